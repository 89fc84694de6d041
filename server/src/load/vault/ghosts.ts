/** Ghost rows: the key of nothing known (all 0) and of an erroneous key (all f), so that references never dangle. */
import { sameIdentifier } from '../../model/names.ts';
import {
  arithmetic,
  compare,
  counted,
  countRows,
  item,
  literal,
  named,
  notExists,
  select,
  source,
  table,
} from '../build.ts';
import { clock } from '../clock.ts';
import { converted, type LoadContext } from '../context.ts';
import { ghostDigest, resolvedHashRules } from '../digest.ts';
import type { Expression, Query } from '../language.ts';
import type { Step, Write } from '../plan.ts';
import { type StagedColumn, storedAs, type VaultStage } from './staging.ts';

const ghostsName = 'ghosts';
const ghostRows = counted('GhostRows');

export interface GhostPart {
  readonly steps: readonly Step[];
  readonly writes: readonly Write[];
  /** Ghost rows that this load adds. */
  readonly count: Expression;
}

/** The ghost rows that the target lacks; nothing where the load has no ghosts. */
export function ghostPart(stage: VaultStage): GhostPart {
  const rules = stage.context.options.ghost;
  if (rules?.enabled !== true) return { steps: [], writes: [], count: literal(0) };
  const columns = stage.columns.filter((of) => ghostValue(stage, of, 'unknown') !== null);
  const kinds = rules.style === 'unknown_and_error' ? (['unknown', 'error'] as const) : (['unknown'] as const);
  const rows = kinds.map((kind) => ghostRow(stage, columns, kind));
  return {
    steps: [
      {
        kind: 'let',
        says: kinds.length === 1 ? 'The ghost row, until it is there.' : 'The ghost rows, until they are there.',
        name: ghostsName,
        query: rows.length === 1 && rows[0] !== undefined ? rows[0] : { kind: 'union', parts: rows },
      },
      {
        kind: 'measure',
        says: 'Ghost rows to add.',
        query: select([item(ghostRows.name, countRows())], source(named(ghostsName), 'c')),
      },
    ],
    writes: [
      {
        kind: 'insert',
        says: 'Add the ghost rows that later joins rely on.',
        shows: 'inserted',
        from: ghostsName,
        where: [],
        values: columns.map((of) => ({ column: of.target.name, value: storedAs('c', stage.context, of) })),
      },
    ],
    count: ghostRows,
  };
}

/** Inserted rows with the ghosts among them. */
export function withGhostRows(rows: Expression, { count }: GhostPart): Expression {
  return count.kind === 'literal' ? rows : arithmetic(rows, '+', count);
}

function ghostRow(stage: VaultStage, columns: readonly StagedColumn[], kind: 'unknown' | 'error'): Query {
  const { context, keys } = stage;
  const items = columns.map((of) => item(of.target.name, ghostValue(stage, of, kind) ?? literal(null, of.type)));
  const known = select([item('one', literal(1))], source(table(context.target.name), 't'), {
    where: keys.slice(0, 1).map((key) => compare(storedAs('t', context, key), '=', ghostKey(context, key, kind))),
  });
  return select(items, null, { where: [notExists(known)] });
}

/** The digest that stands for a ghost, in a hash column's type. */
export function ghostKey(context: LoadContext, of: Pick<StagedColumn, 'type'>, kind: 'unknown' | 'error'): Expression {
  const { algorithm } = resolvedHashRules(context.options.hash_rules ?? {}, 'hash_key');
  return literal(ghostDigest(algorithm, kind), of.type);
}

/** What a ghost row holds in a column: its digest, load time and source; NULL or a neutral value elsewhere. */
function ghostValue(stage: VaultStage, of: StagedColumn, kind: 'unknown' | 'error'): Expression | null {
  const { context, loadTs, recordSource } = stage;
  const rules = context.options.ghost;
  if (isHash(stage, of)) return ghostKey(context, of, kind);
  if (of === loadTs) {
    const time =
      kind === 'unknown' ? (rules?.load_ts ?? '1900-01-01 00:00:00') : (rules?.error_load_ts ?? '9999-12-31 00:00:00');
    return literal(time, of.type);
  }
  if (of === recordSource) {
    return literal(
      kind === 'unknown' ? (rules?.record_source ?? 'SYSTEM') : (rules?.error_record_source ?? 'ERROR'),
      of.type,
    );
  }
  if (of.target.nullable) return literal(null, of.type);
  return neutralValue(of);
}

function isHash({ context, keys }: VaultStage, of: StagedColumn): boolean {
  const isNamed = (list: object | undefined): boolean =>
    Object.keys(list ?? {}).some((name) => sameIdentifier(name, of.target.name));
  return (
    of.role !== null ||
    of.target.role === 'hash-key' ||
    of.target.role === 'hashdiff' ||
    (keys[0] === of && isNamed(context.options.hash_key))
  );
}

/** A column that takes no NULL gets a value that says nothing. */
function neutralValue(of: StagedColumn): Expression {
  switch (of.type.facts.family) {
    case 'integer':
    case 'decimal':
    case 'float':
    case 'boolean':
      return literal(0, of.type);
    case 'date':
    case 'timestamp':
      return literal('1900-01-01', of.type);
    case 'text':
      return literal('', of.type);
    default:
      return converted(clock, of.type);
  }
}
