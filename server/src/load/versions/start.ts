/** When versions start: at the load's clock, at a staged change time, or low for the first version of a key. */
import {
  aggregate,
  all,
  choose,
  column,
  compare,
  counted,
  countRows,
  isNotNull,
  isNull,
  item,
  later,
  literal,
  select,
  source,
  table,
} from '../build.ts';
import { clock, instant, startNow } from '../clock.ts';
import {
  columnOf,
  columnType,
  converted,
  findColumn,
  freeName,
  keysEqual,
  keyText,
  keyValue,
  type LoadContext,
} from '../context.ts';
import { type Expression, type Item, type Relation, types } from '../language.ts';
import type { Step } from '../plan.ts';
import { isOpen, presence, stored, type Versions } from './model.ts';

const startVariable = 'VersionStart';

/** The start of a version that begins in this load; also for the dates of rows found absent. */
export function versionStart(versions: Versions): Expression {
  const { validFrom, context } = versions;
  return validFrom === undefined
    ? clock
    : { kind: 'variable', name: startVariable, type: columnType(context.target, validFrom) };
}

export function startDefinition(versions: Versions): readonly Step[] {
  const { validFrom, context } = versions;
  if (validFrom === undefined) return [];
  const type = columnType(context.target, validFrom);
  const day = context.options.grain === 'day';
  return [
    {
      kind: 'define',
      says: day
        ? `A version that begins in this load starts today.`
        : `A version that begins in this load starts at the load's clock.`,
      name: startVariable,
      type,
      value: startNow(type, context.options.grain),
    },
  ];
}

/** The stage column that says when a version starts, in the type of the start column. */
export function changeTimeItem(versions: Versions): Item | null {
  const { context, validFrom } = versions;
  const name = startSource(context);
  if (name === null || validFrom === undefined) return null;
  const of = findColumn(context, context.source, name, 'valid_from_source');
  if (of === undefined) return null;
  return item(
    freeName(context, 'starts_at'),
    converted(columnOf('s', context.source, of), columnType(context.target, validFrom)),
  );
}

function startSource({ options }: LoadContext): string | null {
  const stated = options.valid_from_source ?? (options.strategy === 'timestamp' ? options.updated_at : undefined);
  return stated === undefined || stated === 'now' ? null : stated;
}

/** The staged change time of a key (alias `s`). */
export function stagedChangeTime(versions: Versions): Expression | null {
  const { context, validFrom } = versions;
  if (changeTimeItem(versions) === null || validFrom === undefined) return null;
  return column('s', freeName(context, 'starts_at'), columnType(context.target, validFrom));
}

/** Where the former version ends: at the start of the new one; a vanished key's at the load's own time. */
export function closingStart(versions: Versions, start: Expression, isStaged: Expression): Expression {
  const staged = stagedChangeTime(versions);
  if (staged === null) return versionStart(versions);
  return versions.kinds.has('absent') ? choose([[isNull(isStaged), versionStart(versions)]], start) : start;
}

export function newStart(versions: Versions, isStaged: Expression, knowsEarlier: boolean): Expression | null {
  const { context, validFrom, kinds } = versions;
  if (validFrom === undefined) return null;
  const { options } = context;
  const type = columnType(context.target, validFrom);
  const isStored = column('t', presence(context, 'stored'), types.flag);
  let start: Expression = stagedChangeTime(versions) ?? versionStart(versions);
  if (options.revive_start?.includes('previous_end') === true && knowsEarlier) {
    start = choose([[isNull(isStored), later(start, column('e', 'previous_end', type))]], start);
  }
  const branches: (readonly [Expression, Expression])[] = [];
  if (stagedChangeTime(versions) !== null && kinds.has('absent'))
    branches.push([isNull(isStaged), versionStart(versions)]);
  // Detection alone opens no key for the first time.
  if (options.initial_valid_from !== undefined && kinds.has('new')) {
    const first =
      options.initial_valid_from_scope === 'first_load'
        ? [compare(storedAny, '=', literal(0))]
        : [isNull(column('e', 'is_earlier', types.flag))];
    branches.push([
      all(...(kinds.has('absent') ? [isNotNull(isStaged)] : []), isNull(isStored), ...first),
      instant(options.initial_valid_from, type),
    ]);
  }
  return choose(branches, start);
}

const storedAny = counted('StoredRows');

/** Whether new keys have older, closed versions: needed for the first start, and for the start of a key that is back. */
export function earlierVersions(versions: Versions, stagedRelation: Relation): Step | null {
  const { context, keys, validTo } = versions;
  const { options } = context;
  const revives = options.revive_start?.includes('previous_end') === true;
  if (options.initial_valid_from_scope === 'first_load' && options.initial_valid_from !== undefined && !revives) {
    return {
      kind: 'measure',
      says: 'Whether this is the first load.',
      query: select(
        [item(storedAny.name, countRows())],
        source(select([item('one', literal(1))], source(table(context.target.name), 't'), { limit: 1 }), 'first_row'),
      ),
    };
  }
  if (options.initial_valid_from === undefined && !revives) return null;
  if (validTo === undefined) return null;
  const type = columnType(context.target, validTo);
  const open = isOpen(versions, 'o');
  const closed = select(
    [
      item('is_earlier', literal(1)),
      ...keys.map((part) => item(part.target.name, aggregate('min', stored(context, part.target)))),
      item('previous_end', aggregate('max', stored(context, validTo))),
    ],
    source(table(context.target.name), 't'),
    {
      where: [
        {
          kind: 'exists',
          negated: false,
          query: select([item('one', literal(1))], source(stagedRelation, 's'), {
            where: [
              ...keys.map((part) =>
                keysEqual(context, column('s', part.target.name, part.type), stored(context, part.target)),
              ),
              {
                kind: 'exists',
                negated: true,
                query: select([item('one', literal(1))], source(table(context.target.name), 'o'), {
                  where: [
                    ...keys.map((part) =>
                      keysEqual(
                        context,
                        columnOf('o', context.target, part.target),
                        column('s', part.target.name, part.type),
                      ),
                    ),
                    ...open,
                  ],
                }),
              },
            ],
          }),
        },
        ...(options.open_end === undefined || options.open_end === null
          ? [isNotNull(stored(context, validTo))]
          : [compare(stored(context, validTo), '<>', instant(options.open_end, type))]),
      ],
      groupBy: keys.map((part) => keyValue(context, stored(context, part.target))),
      text: keyText(context),
    },
  );
  return {
    kind: 'let',
    says: 'Keys without a current row that have been here before.',
    name: 'earlier',
    query: closed,
  };
}
