/** Keys that the source no longer delivers: what is judged, by what, and the guards before anything is written. */
import { sameIdentifier } from '../../model/names.ts';
import {
  any,
  choose,
  column,
  compare,
  concat,
  counted,
  countRows,
  isNotNull,
  item,
  literal,
  named,
  same,
  select,
  shown,
  source,
  table,
} from '../build.ts';
import { columnOf, columnType, converted, feedOf, findColumn, keyValue, report } from '../context.ts';
import { type Expression, type Query, type Relation, types, type ValueType, valueType } from '../language.ts';
import type { Step, Warning } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { found, foundAbsent, sum } from './counts.ts';
import { isNotFlagged, isOpen, presence, stored, type Versions } from './model.ts';

interface AbsenceSteps {
  readonly steps: readonly Step[];
  readonly warnings: readonly Warning[];
  readonly keyList: Relation | null;
}

export function absenceSteps(versions: Versions): AbsenceSteps {
  const { context } = versions;
  const { options, extra } = context;
  const listTable = options.detection_source === 'key_list' ? extra['key_list'] : undefined;
  if (options.detection_source === 'key_list' && listTable === undefined) {
    report(
      context,
      'missing-table',
      'Absence is judged by a key list (detection_source), but no table is given for it: state extra.key_list.',
    );
  }
  const steps: Step[] = [];
  let keyList: Relation | null = null;
  let delivered: Expression = acceptedRows;
  if (listTable !== undefined) {
    const values = versions.keys.map((part) => {
      const of = listTable.columns.find(
        (candidate) =>
          sameIdentifier(candidate.name, part.source.name) || sameIdentifier(candidate.name, part.target.name),
      );
      if (of === undefined) {
        report(
          context,
          'missing-column',
          `${listTable.name.table} has no column ${part.source.name}, so it can't list keys.`,
        );
      }
      return {
        part,
        value: converted(columnOf('l', listTable, of ?? part.source), part.type),
      };
    });
    const query = select(
      [
        item(presence(context, 'listed'), literal(1)),
        ...values.map(({ part, value }) => item(part.target.name, keyValue(context, value))),
      ],
      source(table(listTable.name), 'l'),
      { distinct: true, text: 'exact', where: values.map(({ value }) => isNotNull(value)) },
    );
    delivered = counted('ListedKeys');
    steps.push(
      { kind: 'let', says: 'Keys that exist in the source.', name: 'listed', query },
      {
        kind: 'measure',
        says: 'An empty list says nothing about absence.',
        query: select([item('ListedKeys', countRows())], source(named('listed'), 'l')),
      },
    );
    keyList = named('listed');
  }
  const rule = options.on_empty_stage ?? 'skip';
  const what = listTable === undefined ? 'the stage is empty' : 'the key list is empty';
  if (rule === 'fail') {
    steps.push({
      kind: 'guard',
      says: 'An empty delivery stops the load.',
      code: 'empty_stage',
      when: compare(delivered, '=', literal(0)),
      message: literal(`${what}, so nothing can be said about absent keys`),
    });
  }
  const skips = rule === 'skip';
  steps.push({
    kind: 'define',
    says: skips ? 'An empty delivery inactivates nothing.' : 'Absent keys are looked for in any case.',
    name: detects.name,
    type: detects.type,
    value: skips ? choose([[compare(delivered, '>', literal(0)), literal(1)]], literal(0)) : literal(1),
  });
  const warnings: readonly Warning[] = skips
    ? [
        {
          code: 'empty_stage',
          when: compare(detects, '=', literal(0)),
          message: literal(`${what}: absent keys were not looked for`),
        },
      ]
    : [];
  return { steps, warnings, keyList };
}

/** Whether a stored row lies in what was delivered, by `scope`: conditions, and a join to the staged combinations. */
export function scopeOf(
  versions: Versions,
  stagedRelation: Relation,
): { readonly where: readonly Expression[]; readonly steps: readonly Step[] } {
  const { context } = versions;
  const { scope = [], scope_values: stated } = context.options;
  if (context.options.load !== 'partition' || scope.length === 0) return { where: [], steps: [] };
  const columns = scope.flatMap((name) => {
    const feed = feedOf(context, name);
    const of = feed?.target ?? findColumn(context, context.target, name, 'scope');
    return of === undefined ? [] : [{ name, of, type: columnType(context.target, of) }];
  });
  if (stated !== undefined) {
    const where = columns.map(({ name, of, type }) => {
      const values = stated[name] ?? stated[of.name] ?? [];
      return any(
        ...values.map((value) =>
          same(stored(context, of), value === null ? literal(null, type) : literal(value, type)),
        ),
      );
    });
    return { where, steps: [] };
  }
  const query = select(
    columns.map(({ of, type }) => item(of.name, column('s', of.name, type))),
    source(stagedRelation, 's'),
    { distinct: true, text: 'exact' },
  );
  const inScope: Query = select([item('one', literal(1))], source(named('delivered'), 'd'), {
    where: columns.map(({ of, type }) => same(column('d', of.name, type), stored(context, of))),
  });
  return {
    steps: [{ kind: 'let', says: 'What was delivered: only here absence means something.', name: 'delivered', query }],
    where: [{ kind: 'exists', query: inScope, negated: false }],
  };
}

export function thresholdSteps(versions: Versions, stagedRelation: Relation): readonly Step[] {
  const { context } = versions;
  const scope = scopeOf(versions, stagedRelation);
  const absent = sum(foundAbsent, found(versions, 'absent today'));
  const limit: Expression = { kind: 'parameter', name: limitName, type: limitType };
  return [
    {
      kind: 'measure',
      says: 'Open keys that this load speaks about.',
      query: select([item(openKeys.name, countRows())], source(table(context.target.name), 't'), {
        where: [...isOpen(versions, 't'), ...isNotFlagged(versions, 't'), ...scope.where],
      }),
    },
    {
      kind: 'guard',
      says: 'More absent keys than the limit allows stop the load: the delivery may be cut.',
      code: 'inactivation_threshold',
      when: compare({ kind: 'arithmetic', operator: '*', left: absent, right: literal(100) }, '>', {
        kind: 'arithmetic',
        operator: '*',
        left: openKeys,
        right: limit,
      }),
      message: concat(
        shown(absent),
        literal(' of '),
        shown(openKeys),
        literal(' open keys are absent, more than the limit of '),
        shown(limit),
        literal(' per cent'),
      ),
    },
  ];
}

export const limitName = 'MaxInactivationPct';

export const limitType: ValueType = valueType('decimal(5,2)');

export const detects = { kind: 'variable', name: 'DetectsAbsence', type: types.flag } as const;

const openKeys = counted('OpenKeys');
