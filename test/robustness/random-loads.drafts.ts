/** Random schemas and change sets, by seed: one draft case of a pattern with random columns, options and deliveries. */
import type { CaseRow, Cell, NeutralColumns } from '../../cli/src/conformance/format.ts';
import { type DraftCase, type DraftStep, filledCase } from '../support/oracle/draft.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { type Fault, type PatternDraft, randomPatterns, type Schema } from './random-loads.patterns.ts';

/** Values that have betrayed loads before: blanks, case, marks of the hash rule, extremes, signs, lookalikes. */
const valuesByType: Readonly<Record<string, readonly Cell[]>> = {
  string: [
    'x',
    'X',
    'x ',
    ' x',
    '',
    '^^',
    '||',
    'a||b',
    '^1',
    "O'Neil",
    '%s\\n',
    'a\nb',
    'é',
    'e\u0301',
    '漢字',
    '😀',
    '\u00a0',
    { $repeat: ['ä', 100] },
    null,
  ],
  text: ['x', 'X', '', { $repeat: ['ab', 4500] }, { $repeat: ['ab', 4500], $suffix: '1' }, null],
  int: [0, 1, -1, 2147483647, -2147483648, null],
  bigint: ['0', '9007199254740993', '-9223372036854775808', null],
  'decimal(10,2)': ['0.00', '-0.00', '0.01', '-0.01', '19.9', '19.90', '99999999.99', null],
  boolean: [true, false, null],
  date: ['2024-02-29', '1900-01-01', '9999-12-31', null],
  'timestamp(6)': ['2024-01-01 00:00:00', '2024-01-01 00:00:00.000001', '1900-01-01 23:59:59.999999', null],
};
/** Column names that need quoting, are words of SQL, or could be names that a load gives its own columns. */
const hardNames: readonly string[] = [
  'order',
  'select',
  'group',
  'a b',
  'say "hi"',
  "it's",
  'semi;colon',
  '--dash',
  'Straße',
  '列',
  '%',
  '1st',
  'key_1',
  'key_2',
  'position',
  'change_kind',
  'is_staged',
  'is_stored',
  'one',
  'rows',
  'offender',
  'stored_from',
  'closed_to',
  'measured',
  'message',
  'code',
  's',
  't',
  'c',
];
const keyTexts: readonly Cell[] = ['K1', 'K2', 'K3', 'k1', 'K1 ', 'Ä', '漢', '0', '00', ' '];
const keyNumbers: readonly Cell[] = [1, 2, 3, 10, -1, 0];

/** The draft of a seed: pattern, columns, options and three to five deliveries, the last of which comes twice. */
export function randomDraft(seed: number): DraftCase {
  const random = seededRandom(seed);
  const draft = random.oneOf(randomPatterns);
  const names = random.chance(0.5)
    ? ['id_a', 'id_b', 'col_a', 'col_b', 'col_c', 'col_d']
    : random.shuffled(hardNames).slice(0, 6);
  const schema: Schema = {
    keys: Object.fromEntries(
      names.slice(0, 1 + random.below(2)).map((name) => [name, random.oneOf(['string', 'int', 'string'])]),
    ),
    attributes: Object.fromEntries(
      names.slice(2, 3 + random.below(4)).map((name) => [name, random.oneOf(Object.keys(valuesByType))]),
    ),
  };
  const stage = inAnyOrder({ ...schema.keys, ...schema.attributes, ...draft.staged }, random);
  const target = inAnyOrder({ ...schema.keys, ...schema.attributes, ...draft.stored }, random);
  const steps = randomSteps(draft, schema, random);
  return {
    id: `seed ${seed} ${draft.pattern}`,
    pattern: draft.pattern,
    config: draft.config(schema, random),
    tables: { stage, target },
    steps,
  };
}

function randomSteps(draft: PatternDraft, schema: Schema, random: Random): readonly DraftStep[] {
  const keys = randomKeys(schema.keys, random);
  const count = 3 + random.below(3);
  const fault = random.oneOf(draft.faults);
  const steps = Array.from({ length: count }, (_, step): DraftStep => {
    const now = `2024-05-0${step + 1} 0${random.below(10)}:00:00`;
    const rows = keys
      .filter(() => random.chance(0.7))
      .map((key, i): CaseRow => ({ ...key, ...randomValues(schema.attributes, random), ...draft.technical(now, i) }));
    return { now, stage: random.shuffled(withFault(rows, fault, draft.technical(now, rows.length), schema, random)) };
  });
  const last = steps[count - 1];
  return last === undefined ? steps : [...steps, { ...last, now: '2024-06-01 00:00:00' }];
}

function randomKeys(keys: NeutralColumns, random: Random): readonly CaseRow[] {
  const made = Array.from(
    { length: 3 + random.below(10) },
    (): CaseRow =>
      Object.fromEntries(
        Object.entries(keys).map(([name, type]) => [name, random.oneOf(type === 'string' ? keyTexts : keyNumbers)]),
      ),
  );
  return [...new Map(made.map((key) => [JSON.stringify(key), key])).values()];
}

function randomValues(attributes: NeutralColumns, random: Random): CaseRow {
  return Object.fromEntries(
    // Few values per column, so that equal deliveries are as common as changes.
    Object.entries(attributes).map(([name, type]) => {
      const values = valuesByType[type] ?? [null];
      return [name, random.chance(0.6) ? (values[0] ?? null) : random.oneOf(values)];
    }),
  );
}

function withFault(
  rows: readonly CaseRow[],
  fault: Fault,
  technical: CaseRow,
  schema: Schema,
  random: Random,
): readonly CaseRow[] {
  if (fault === 'none' || rows.length === 0 || random.chance(0.5)) return rows;
  const row = random.oneOf(rows);
  if (fault === 'repeated row') return [...rows, row];
  if (fault === 'repeated key') return [...rows, { ...row, ...randomValues(schema.attributes, random), ...technical }];
  const [key = ''] = Object.keys(schema.keys);
  return [...rows, { ...row, [key]: null }];
}

function inAnyOrder(columns: NeutralColumns, random: Random): Record<string, string> {
  return Object.fromEntries(random.shuffled(Object.entries(columns)));
}

/** The same draft with the rows of every delivery and the columns of both tables in another order. */
export function reorderedDraft(draft: DraftCase, seed: number): DraftCase {
  const random = seededRandom(seed ^ 0x5eed);
  return {
    ...draft,
    id: `${draft.id}, reordered`,
    tables: { stage: inAnyOrder(draft.tables.stage, random), target: inAnyOrder(draft.tables.target, random) },
    steps: draft.steps.map((step) => ({ ...step, stage: random.shuffled(step.stage) })),
  };
}

/**
 * A draft whose deliveries come in two loads of one batch time each, the rows of a key together; undefined where a load
 * means more than its rows (full extracts, refused deliveries).
 */
export function halvedDraft(draft: DraftCase): { readonly whole: DraftCase; readonly halves: DraftCase } | undefined {
  if (draft.config.load !== 'delta' || filledCase(draft).steps.some((step) => step.expect_error !== undefined)) {
    return undefined;
  }
  // A start that only the first load gives is not given to its second half, and a high-water mark passes over that half.
  if (draft.config.initial_valid_from_scope === 'first_load' || draft.config.hwm === true) return undefined;
  const keys = draft.config.keys ?? [];
  const inFirst = (row: CaseRow): boolean => {
    const text = JSON.stringify(keys.map((key) => row[key]));
    return Array.from(text).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 2 === 0;
  };
  const steps = draft.steps.flatMap((step) => [
    { ...step, stage: step.stage.filter(inFirst) },
    { ...step, stage: step.stage.filter((row) => !inFirst(row)) },
  ]);
  return { whole: draft, halves: { ...draft, id: `${draft.id}, in halves`, steps } };
}
