/** What a satellite load compares, and the columns in which its steps hand rows on. */
import { column, item } from '../../build.ts';
import { columnOf, columnType, feedOf, freeName, keyLabel, type LoadContext, report } from '../../context.ts';
import { type Expression, type Item, type ValueType, valueType } from '../../language.ts';
import { digestOf } from '../hashing.ts';
import { neededColumns, type StagedColumn, stagedAs, storedAs, type VaultStage } from '../staging.ts';

export interface Satellite {
  readonly stage: VaultStage;
  readonly context: LoadContext;
  readonly loadTs: StagedColumn;
  readonly content: Content;
  /** Stage columns of which the keys are hashed: they find the stage's rows again, and name them to a person. */
  readonly parts: readonly KeyColumn[];
}

/** What is compared: a stored hashdiff, or a digest of the tracked columns made on both sides. */
interface Content {
  readonly name: string;
  readonly staged: Expression;
  readonly stored: Expression;
}

/** A stage column that goes into a hash key. */
interface KeyColumn {
  /** Its name in `staged` and `sequence`. */
  readonly name: string;
  readonly key: StagedColumn;
  /** Its value in a stage row (alias `s`). */
  readonly value: Expression;
  readonly type: ValueType;
  /** All rows that are taken have it. */
  readonly isPresent: boolean;
}

const digestType = valueType('varchar(64)');

/** Null, and reported, where the load date is not known. */
export function makeSatellite(stage: VaultStage): Satellite | null {
  const { context, loadTs } = stage;
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${context.target.name.table} is the load date with --set load_ts="…".`,
    );
    return null;
  }
  return { stage, context, loadTs, content: contentOf(stage), parts: keyColumnsOf(stage) };
}

function contentOf(stage: VaultStage): Content {
  const { context, hashdiff } = stage;
  if (hashdiff !== undefined) {
    return { name: hashdiff.target.name, staged: hashdiff.value, stored: storedAs('t', context, hashdiff) };
  }
  const tracked = (context.options.compare ?? []).flatMap((name) => {
    const fed = feedOf(context, name)?.target;
    return stage.columns.filter((of) => of.target === fed);
  });
  const digest = (versionOf: (of: StagedColumn) => Expression): Expression =>
    digestOf(
      { ...context, options: { ...context.options, hash_rules: { preset: 'default' } } },
      tracked.map((of) => ({ name: of.target.name, value: versionOf(of) })),
      'hashdiff',
      digestType,
    );
  return {
    name: freeName(context, 'content'),
    staged: digest((of) => of.value),
    stored: digest((of) => storedAs('t', context, of)),
  };
}

function keyColumnsOf({ context, keys }: VaultStage): readonly KeyColumn[] {
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

/** The content's type: that of the hashdiff, or of a digest that is not stored. */
export function contentType({ stage }: Satellite): ValueType {
  return stage.hashdiff?.type ?? digestType;
}

export function contentOn(alias: string, satellite: Satellite): Expression {
  return column(alias, satellite.content.name, contentType(satellite));
}

/** The stage's columns, and the content where it is no column of the target. */
export function carried(
  satellite: Satellite,
): readonly { readonly name: string; readonly value: (alias: string) => Expression }[] {
  const { stage, content } = satellite;
  const columns = stage.columns.map((of) => ({ name: of.target.name, value: (alias: string) => stagedAs(alias, of) }));
  return stage.hashdiff === undefined
    ? [...columns, { name: content.name, value: (alias: string) => contentOn(alias, satellite) }]
    : columns;
}

/** The content where it is no column of the target, and the parts of the hashed keys, as a stage row has them. */
export function besideColumns({ stage, content, parts }: Satellite): readonly Item[] {
  return [
    ...(stage.hashdiff === undefined ? [item(content.name, content.staged)] : []),
    ...parts.map(({ name, value }) => item(name, value)),
  ];
}

export function partAs(alias: string, { name, type }: KeyColumn): Expression {
  return column(alias, name, type);
}

/** The load time of the latest version of the row's key; NULL where it has none. */
export function storedTime(alias: string, { loadTs }: Satellite): Expression {
  return column(alias, 'latest_time_', loadTs.type);
}

/** The content of the latest version of the row's key. */
export function storedContent(alias: string, satellite: Satellite): Expression {
  return column(alias, 'latest_content_', contentType(satellite));
}

/** A key as a message names it: by the business key where it is hashed in this load. `of` reads a column of the row. */
export function keyName(
  satellite: Satellite,
  alias: string,
  of = (value: Expression): Expression => value,
): Expression {
  const { stage, parts } = satellite;
  return keyLabel(
    stage.keys.flatMap((key) => {
      const own = parts.filter((part) => part.key === key).map((part) => partAs(alias, part));
      return (own.length > 0 ? own : [stagedAs(alias, key)]).map(of);
    }),
  );
}
