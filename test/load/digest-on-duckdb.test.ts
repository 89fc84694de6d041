/** The hash vectors through the expression that a generated load uses on the embedded engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import type { HashRules, LoadSpecification } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import { type HashRole, textDigest } from '../../server/src/load/digest.ts';
import { bareTable } from '../support/bare-table.ts';
import { openMemorySession } from '../support/engine.ts';
import { rowVectors, textVectors, valueVectors } from '../support/vectors.ts';

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

interface Column {
  readonly name: string;
  readonly type: string;
  readonly value: string | null;
}

/** The digest that a load of pattern `hash` writes for one staged row. */
async function loadedDigest(columns: readonly Column[], rules: HashRules, role: HashRole): Promise<string | null> {
  const specification: LoadSpecification = {
    version: 1,
    pattern: 'hash',
    source: { database: null, schema: null, table: 'vector_stage' },
    target: { database: null, schema: null, table: 'vector_target' },
    platform: 'duckdb',
    form: 'script',
    shape: 'separate',
    options: {
      kind: 'hash',
      keys: ['rid'],
      target_key: ['rid'],
      target_identity: ['rid'],
      hash_columns: { h: columns.map(({ name }) => name) },
      hash_role: role,
      hash_rules: rules,
    },
  };
  const staged = [{ name: 'rid', type: 'varchar', value: '1' }, ...columns];
  await session.execute(
    `CREATE OR REPLACE TABLE vector_stage (${staged.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`,
  );
  await session.execute('CREATE OR REPLACE TABLE vector_target (rid varchar, h varchar)');
  await session.execute(`INSERT INTO vector_stage SELECT ${staged.map(literal).join(', ')}`);
  const { value, problems } = generateLoad({
    specification,
    tables: {
      source: bareTable('vector_stage', Object.fromEntries(staged.map(({ name, type }) => [name, type]))),
      target: bareTable('vector_target', { rid: 'varchar', h: 'varchar' }),
      extra: {},
    },
    style: defaultStyle,
  });
  if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
  const result = await session.runLoad(value, '2024-01-01 00:00:00');
  expect(result.error).toBeNull();
  const [row] = await session.query('SELECT h FROM vector_target');
  const digest = row?.[0];
  return digest === null || digest === undefined ? null : String(digest);
}

function literal({ type, value }: Column): string {
  if (value === null) return `CAST(NULL AS ${type})`;
  if (type === 'blob') return `unhex('${value.replace(/^0x/, '')}')`;
  // The engine takes a blank before an offset for the name of a time zone.
  const text = value.replace(/ (?=[+-]\d\d:\d\d$)/, '').replaceAll("'", "''");
  return type === 'boolean' ? `${value} = 1` : `CAST('${text}' AS ${type})`;
}

/** Spelled for SQL Server in the row vectors; the embedded engine has one text type and no parameters on others. */
function duckdbType(type: string): string {
  return type.startsWith('varchar') ? 'varchar' : type === 'int' ? 'integer' : type;
}

describe('texts', () => {
  test.each(textVectors)('$text', async ({ text, sha256, sha1, md5 }) => {
    const column = { name: 'a', type: 'varchar', value: text };
    for (const [algorithm, digest] of Object.entries({ sha256, sha1, md5 })) {
      const rules: HashRules = { algorithm: algorithm as 'sha256' | 'sha1' | 'md5', escape: false };
      expect(await loadedDigest([column], rules, 'hashdiff')).toBe(digest);
    }
  });
});

describe('values', () => {
  const spelled = valueVectors.filter(({ types }) => types['duckdb'] !== undefined);
  test.each(spelled)('$types.duckdb $value', async ({ types, value, text }) => {
    const column = { name: 'a', type: types['duckdb'] ?? '', value };
    expect(await loadedDigest([column], { escape: false }, 'hashdiff')).toBe(textDigest('sha256', text));
  });
});

describe('rows', () => {
  test.each(rowVectors)('$title', async ({ columns, rules, role, digest }) => {
    const typed = columns.map((column) => ({ ...column, type: duckdbType(column.type) }));
    expect(await loadedDigest(typed, rules, role)).toBe(digest);
  });
});
