/** The stage columns of which keys are hashed: they find the stage's rows again, and name keys to a person. */
import { ascending, column, item } from '../build.ts';
import { columnOf, columnType, keyLabel } from '../context.ts';
import type { Expression, Item, Query, ValueType } from '../language.ts';
import { firstRows, neededColumns, type StagedColumn, stagedAs, stagedRows, type VaultStage } from './staging.ts';

/** A stage column that goes into a hash key. */
export interface KeyPart {
  /** Its name in the relations that carry it. */
  readonly name: string;
  readonly key: StagedColumn;
  /** Its value in a stage row (alias `s`). */
  readonly value: Expression;
  readonly type: ValueType;
  /** All rows that are taken have it. */
  readonly isPresent: boolean;
}

/** The parts of all hashed keys, one by one; none where keys are stored as they are staged. */
export function keyPartsOf({ context, keys }: VaultStage): readonly KeyPart[] {
  const needed = neededColumns(context);
  return keys
    .flatMap((key) => key.inputs.map((input) => ({ key, input })))
    .map(({ key, input }, index) => ({
      name: `key_part_${index + 1}_`,
      key,
      value: columnOf('s', context.source, input),
      type: columnType(context.source, input),
      isPresent: needed.includes(input),
    }));
}

export function partAs(alias: string, { name, type }: KeyPart): Expression {
  return column(alias, name, type);
}

/** The parts as items of a query over stage rows. */
export function partItems(stage: VaultStage): readonly Item[] {
  return keyPartsOf(stage).map(({ name, value }) => item(name, value));
}

/**
 * A key as a message names it: by the business key where it is hashed in this load, which the relation of the alias
 * carries. `of` reads a column of the row.
 */
export function keyName(
  stage: VaultStage,
  alias: string,
  of = (value: Expression, _: StagedColumn): Expression => value,
): Expression {
  const parts = keyPartsOf(stage);
  return keyLabel(
    stage.keys.flatMap((key) => {
      const own = parts.filter((part) => part.key === key).map((part) => partAs(alias, part));
      return (own.length > 0 ? own : [stagedAs(alias, key)]).map((value) => of(value, key));
    }),
  );
}

/**
 * The accepted rows, identical ones once, with the parts of their keys beside them: of keys that the hash rules make one,
 * the parts of the lowest.
 */
export function distinctRows(
  stage: VaultStage,
  further: readonly { readonly name: string; readonly type: ValueType; readonly value: Expression }[] = [],
): Query {
  const parts = keyPartsOf(stage);
  const beside = further.map(({ name, value }) => item(name, value));
  if (parts.length === 0) return { ...stagedRows(stage, beside), distinct: true, text: 'exact' };
  const columns = [...stage.columns.map(({ target, type }) => ({ name: target.name, type })), ...further];
  return firstRows(
    stage.context,
    stagedRows(stage, [...beside, ...partItems(stage)]),
    [...columns, ...parts],
    columns.map(({ name, type }) => column('s', name, type)),
    parts.map((part) => ascending(partAs('s', part))),
    'exact',
  );
}
