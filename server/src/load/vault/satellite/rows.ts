/** What a satellite load compares, and the columns in which its steps hand rows on. */
import { column, item } from '../../build.ts';
import { feedOf, freeName, type LoadContext, report } from '../../context.ts';
import { type Expression, type Item, type ValueType, valueType } from '../../language.ts';
import { digestOf } from '../hashing.ts';
import { type KeyPart, keyPartsOf } from '../key-parts.ts';
import { type StagedColumn, stagedAs, storedAs, type VaultStage } from '../staging.ts';

export interface Satellite {
  readonly stage: VaultStage;
  readonly context: LoadContext;
  readonly loadTs: StagedColumn;
  readonly content: Content;
  /** Stage columns of which the keys are hashed: they find the stage's rows again, and name them to a person. */
  readonly parts: readonly KeyPart[];
}

/** What is compared: a stored hashdiff, or a digest of the tracked columns made on both sides. */
interface Content {
  readonly name: string;
  readonly staged: Expression;
  readonly stored: Expression;
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
  return { stage, context, loadTs, content: contentOf(stage), parts: keyPartsOf(stage) };
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

/** The load time of the latest version of the row's key; NULL where it has none. */
export function storedTime(alias: string, { loadTs }: Satellite): Expression {
  return column(alias, 'latest_time_', loadTs.type);
}

/** The content of the latest version of the row's key. */
export function storedContent(alias: string, satellite: Satellite): Expression {
  return column(alias, 'latest_content_', contentType(satellite));
}
