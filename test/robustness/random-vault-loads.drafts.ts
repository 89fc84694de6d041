/** Random deliveries for the vault patterns, by seed: several load times in a stage, odd keys, every rule for missing ones. */
import type { CaseOptions, CaseRow, Cell, NeutralColumns } from '../../cli/src/conformance/format.ts';
import type { PatternName } from '../../protocol/specification.ts';
import type { DraftCase, DraftStep } from '../support/oracle/draft.ts';
import { type Random, seededRandom } from '../support/random.ts';

const keyTexts: readonly string[] = [
  'K1',
  'k1',
  ' K1',
  'K2',
  'Ä',
  'ä',
  '漢',
  '^',
  '^^',
  '||',
  'a||b',
  '0',
  '00',
  "O'N",
];
const contents: readonly Cell[] = ['x', 'X', 'x ', '', '^^', 'a||b', '😀', null];
const sources: readonly string[] = ['CRM', 'crm', 'Zoo', 'ä', '漢', '😀'];
const time = 'timestamp(6)';

interface VaultDraft {
  readonly pattern: PatternName;
  readonly config: (random: Random) => CaseOptions;
  readonly stage: NeutralColumns;
  readonly target: NeutralColumns;
  /** How often a key may come in one load. */
  readonly repeats: boolean;
  /** Which of two load times of a key is stored may be left to the order of rows; then a stage has one. */
  readonly loads: number;
  readonly row: (random: Random, now: string) => CaseRow;
}

const technical = { load_ts: 'load_ts', record_source: 'record_source' };
const staged: NeutralColumns = { a: 'string', b: 'string', load_ts: time, record_source: 'string' };
const stored: NeutralColumns = { hk: 'hash', load_ts: time, record_source: 'string' };

function hashRules(random: Random): CaseOptions['hash_rules'] {
  return {
    escape: true,
    trim: random.chance(0.5),
    case: random.oneOf(['as_is', 'upper', 'upper_keys_only'] as const),
    empty_as_null: random.chance(0.5),
    column_order: random.oneOf(['declared', 'alphabetical'] as const),
    trailing_nulls: random.oneOf(['kept', 'dropped'] as const),
  };
}

function nullKeys(random: Random): Pick<CaseOptions, 'null_keys' | 'null_key_map'> {
  const rule = random.oneOf(['skip', 'skip', 'fail', 'map', 'match'] as const);
  return rule === 'map' ? { null_keys: rule, null_key_map: { b: '-2' } } : { null_keys: rule };
}

function head(random: Random, identity: readonly string[]): CaseOptions {
  return {
    keys: ['a', 'b'],
    target_key: ['hk'],
    hash_key: { hk: ['a', 'b'] },
    target_identity: [...identity],
    ...technical,
    load: 'delta',
    ...nullKeys(random),
    hash_rules: hashRules(random) ?? {},
  };
}

const source = (random: Random): CaseRow => ({ record_source: random.oneOf(sources) });

const patterns: readonly VaultDraft[] = [
  {
    pattern: 'hub',
    config: (random) => ({
      ...head(random, ['hk']),
      insert_only: true,
      tie_break: random.oneOf([
        ['load_ts', 'record_source'],
        ['record_source', 'load_ts'],
      ]),
      ghost: {
        enabled: random.chance(0.5),
        style: 'unknown_and_error',
        load_ts: '0001-01-01 00:00:00',
        error_load_ts: '8888-12-31 23:59:59',
        record_source: 'SYSTEM',
        error_record_source: 'ERROR',
      },
    }),
    stage: staged,
    target: stored,
    repeats: true,
    loads: 3,
    row: source,
  },
  {
    pattern: 'link',
    config: (random) => ({
      ...head(random, ['hk']),
      hash_key: { hk: ['a', 'b'], a_hk: ['a'], b_hk: ['b'] },
      ...(random.chance(0.5) ? { not_null: ['a'] } : {}),
      insert_only: true,
      tie_break: ['load_ts', 'record_source'],
    }),
    stage: staged,
    target: { ...stored, a_hk: 'hash', b_hk: 'hash' },
    repeats: true,
    loads: 3,
    row: source,
  },
  {
    pattern: 'nh_link',
    config: (random) => ({
      ...head(random, ['hk']),
      insert_only: true,
      duplicates: random.oneOf(['collapse_identical', 'fail'] as const),
      hash_rules: { escape: true },
    }),
    stage: { ...staged, amount: 'decimal(12,2)' },
    target: { ...stored, amount: 'decimal(12,2)' },
    repeats: true,
    loads: 1,
    row: (random) => ({ record_source: 'CRM', amount: random.oneOf(['1.00', '1.00', '1.00', '-1.00', null]) }),
  },
  {
    pattern: 'reference_table',
    config: (random) => ({
      ...head(random, ['a', 'b']),
      target_key: ['a', 'b'],
      hash_key: {},
      insert_only: true,
    }),
    stage: { ...staged, label: 'string' },
    target: { a: 'string', b: 'string', load_ts: time, record_source: 'string', label: 'string' },
    repeats: false,
    loads: 1,
    row: (random) => ({ ...source(random), label: random.oneOf(contents) }),
  },
  {
    pattern: 'record_tracking_satellite',
    config: (random) => ({ ...head(random, ['hk', 'load_ts', 'record_source']), insert_only: true }),
    stage: staged,
    target: stored,
    repeats: true,
    loads: 3,
    row: source,
  },
  {
    pattern: 'xts',
    config: (random) => ({
      ...head(random, ['hk', 'satellite_name', 'hashdiff', 'load_ts', 'record_source']),
      satellites: { SAT_ONE: ['p'], SAT_BOTH: ['q', 'p'] },
      insert_only: true,
    }),
    stage: { ...staged, p: 'string', q: 'int' },
    target: { ...stored, satellite_name: 'string', hashdiff: 'hash' },
    repeats: true,
    loads: 3,
    row: (random) => ({ ...source(random), p: random.oneOf(contents), q: random.oneOf([1, 2, null]) }),
  },
  {
    pattern: 'ma_satellite',
    config: (random) => ({
      ...head(random, ['hk', 'load_ts', 'phone']),
      null_keys: random.oneOf(['skip', 'fail'] as const),
      not_null: ['a', 'b', 'phone'],
      cdk: ['phone'],
      hashdiff: { hashdiff: random.oneOf([['label'], ['label', 'phone']]) },
      duplicates: random.oneOf(['collapse_identical', 'fail'] as const),
      hash_rules: { escape: true },
    }),
    stage: { ...staged, phone: 'string', label: 'string' },
    target: { ...stored, phone: 'string', label: 'string', hashdiff: 'hash' },
    repeats: true,
    loads: 3,
    row: (random) => ({
      record_source: 'CRM',
      phone: random.oneOf(['1', '2', '3', '4', null]),
      label: random.chance(0.7) ? 'x' : random.oneOf(contents),
    }),
  },
  {
    pattern: 'eff_satellite',
    config: (random) => ({
      ...head(random, ['hk', 'load_ts', 'end_ts']),
      null_keys: random.oneOf(['skip', 'fail'] as const),
      hash_key: { hk: ['a', 'b'], a_hk: ['a'], b_hk: ['b'] },
      driving_key: ['a'],
      secondary_key: ['b'],
      auto_end_dating: true,
      effective_from: 'eff_from',
      start: 'start_ts',
      end: 'end_ts',
      open_end: random.oneOf([null, '9999-12-31 00:00:00']),
      duplicates: 'collapse_identical',
      insert_only: true,
    }),
    stage: { ...staged, eff_from: time },
    target: { ...stored, a_hk: 'hash', b_hk: 'hash', start_ts: time, end_ts: time, eff_from: time },
    repeats: false,
    loads: 3,
    row: (_random, now) => ({ record_source: 'CRM', eff_from: now.replace(':00:00', ':30:00') }),
  },
  {
    pattern: 'status_tracking_satellite',
    config: (random) => ({
      ...head(random, ['hk', 'load_ts']),
      null_keys: random.oneOf(['skip', 'fail'] as const),
      load: random.oneOf(['full', 'full', 'delta'] as const),
      on_empty_stage: random.oneOf(['skip', 'apply', 'fail'] as const),
      system_source: 'SYSTEM',
      ...(random.chance(0.5)
        ? { status_column: 'flag' }
        : { strategy: 'logical_delete_row' as const, deleted_flag: 'flag', hashdiff: { hashdiff: ['label'] } }),
    }),
    stage: { ...staged, label: 'string' },
    target: { ...stored, flag: 'boolean' },
    repeats: false,
    loads: 3,
    row: (random) => ({ record_source: 'CRM', label: random.chance(0.6) ? 'x' : random.oneOf(contents) }),
  },
];

/** The draft of a seed: a pattern with random rules and three to five stages of one to three loads each. */
export function randomVaultDraft(seed: number): DraftCase {
  const random = seededRandom(seed);
  const draft = random.oneOf(patterns);
  const config = draft.config(random);
  const keys = keysOf(random, draft.repeats);
  const steps: DraftStep[] = [];
  let hour = 0;
  for (let step = 0; step < 3 + random.below(3); step += 1) {
    const stage: CaseRow[] = [];
    for (let load = 0; load < 1 + random.below(draft.loads); load += 1) {
      hour += 1;
      stage.push(...loadOf(draft, keys, timeOf(hour), random));
    }
    steps.push({ now: timeOf(hour), stage: random.shuffled(stage) });
  }
  return {
    id: `seed ${seed} ${draft.pattern}`,
    pattern: draft.pattern,
    config,
    tables: { stage: { ...draft.stage }, target: { ...targetOf(draft, config) } },
    steps,
  };
}

function targetOf(draft: VaultDraft, config: CaseOptions): NeutralColumns {
  if (draft.pattern !== 'status_tracking_satellite') return draft.target;
  return config.status_column === undefined
    ? { ...draft.target, label: 'string', hashdiff: 'hash' }
    : { ...draft.target, flag: 'int' };
}

function timeOf(hour: number): string {
  return `2024-05-01 ${String(hour).padStart(2, '0')}:00:00`;
}

/** Key pairs, some with a missing part; where a key may not come twice, no two are the same under any rule. */
function keysOf(random: Random, repeats: boolean): readonly CaseRow[] {
  const part = (): Cell => (random.chance(0.06) ? random.oneOf([null, '', ' ']) : random.oneOf(keyTexts));
  const pairs = Array.from({ length: 3 + random.below(8) }, (): CaseRow => ({ a: part(), b: part() }));
  if (repeats) return pairs;
  const folded = (row: CaseRow): string =>
    JSON.stringify([row['a'], row['b']].map((cell) => (cell === null ? '' : String(cell).trim().toUpperCase())));
  return [...new Map(pairs.map((row) => [folded(row), row])).values()];
}

function loadOf(draft: VaultDraft, keys: readonly CaseRow[], now: string, random: Random): readonly CaseRow[] {
  const delivered = keys.filter(() => random.chance(0.6));
  const again = draft.repeats && random.chance(0.4) ? delivered.filter(() => random.chance(0.3)) : [];
  return [...delivered, ...again].map((key) => ({ ...key, ...draft.row(random, now), load_ts: now }));
}
