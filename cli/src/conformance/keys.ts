/** Keys that a case's own rows allow, for runs with `--enforced`. */
import { noKeys, type TableKeys } from './dialect.ts';
import type { ConformanceCase } from './format.ts';
import { textRow } from './hashes.ts';
import type { TextRow } from './values.ts';

/** PRIMARY KEY over `target_identity` (UNIQUE where it may hold NULL) and NOT NULL where no row of the case has a NULL. */
export function targetKeys(owner: ConformanceCase): TableKeys {
  const { target } = owner.tables;
  const states = [owner.initial_target_rows ?? [], ...owner.steps.map((step) => step.expected_target_rows)];
  return keysOf(
    states.map((rows) => rows.map((row) => textRow(row, target, owner))),
    Object.keys(target),
    owner.config.target_identity,
  );
}

/** The same for the stage, over the keys of the load. */
export function stageKeys(owner: ConformanceCase): TableKeys {
  const { stage } = owner.tables;
  return keysOf(
    owner.steps.map((step) => step.stage_rows.map((row) => textRow(row, stage, owner))),
    Object.keys(stage),
    (owner.config.keys ?? []).filter((key) => key in stage),
  );
}

function keysOf(
  states: readonly (readonly TextRow[])[],
  columns: readonly string[],
  identity: readonly string[],
): TableKeys {
  const notNull = columns.filter((column) => states.every((rows) => rows.every((row) => row[column] !== null)));
  const unique = states.every((rows) => {
    const identities = rows.map((row) => JSON.stringify(identity.map((column) => collated(row[column] ?? null))));
    return new Set(identities).size === rows.length;
  });
  if (identity.length === 0 || !unique) return { ...noKeys, notNull };
  return identity.every((column) => notNull.includes(column))
    ? { primaryKey: identity, notNull, unique: [] }
    : { primaryKey: [], notNull, unique: [identity] };
}

/** What a case-insensitive collation of T-SQL takes as equal, so that a key of a case holds under every collation. */
function collated(value: string | null): string | null {
  return value === null ? null : value.toLowerCase().replace(/ +$/, '');
}
