import { expect, test } from 'vitest';
import type { TextEdit } from '../../protocol/problem.ts';
import { headerEdits, settingsEdits } from '../../server/src/features/rename-options.ts';
import { headerLine } from '../../server/src/generate/header.ts';
import { lineStartsOf, offsetOf } from '../../server/src/syntax/inspect.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

const { tables } = catalogFrom(
  'CREATE TABLE stg.Unit (no int, label varchar(9)); CREATE TABLE dw.DimUnit (no int, label varchar(9));',
);

function applied(text: string, edits: readonly TextEdit[]): string {
  const starts = lineStartsOf(text);
  const at = (place: TextEdit['range']['start']) => offsetOf(starts, text, place);
  return [...edits]
    .sort((left, right) => at(right.range.start) - at(left.range.start))
    .reduce(
      (result, { range, newText }) => result.slice(0, at(range.start)) + newText + result.slice(at(range.end)),
      text,
    );
}

const settings = (stage: string, target: string) => `{
  "out": "label",
  "tables": [
    { "table": "stg.Unit", "key": ["no", "${stage}"], "columns": { "${stage}": "attribute" } },
    { "table": "other.Unit", "key": ["label"], "columns": { "label": "attribute" } }
  ],
  "loads": [
    {
      "pattern": "scd2", "source": "[stg].[Unit]", "target": "DimUnit",
      "options": { "keys": ["no"], "compare": ["${stage}"], "mapping": { "${target}": "${stage}" }, "accept_narrowing": ["${target}"], "strategy": "check" }
    }
  ]
}`;

test('a column of the stage, and one of the target, in mergewright.json', () => {
  const text = settings('label', 'label');
  const rename = (table: string) => ({ table: tableIn({ tables }, table), column: 'LABEL', newName: 'my "name"' });
  expect(applied(text, settingsEdits('m.json', text, rename('Unit')))).toBe(settings('my \\"name\\"', 'label'));
  expect(applied(text, settingsEdits('m.json', text, rename('DimUnit')))).toBe(settings('label', 'my \\"name\\"'));
});

test('text that is no JSON is left alone', () => {
  const rename = { table: tableIn({ tables }, 'Unit'), column: 'label', newName: 'x' };
  expect(settingsEdits('m.json', '{ "tables": [ "label"', rename)).toEqual([]);
  expect(headerEdits('l.sql', '-- mergewright: {"label', rename)).toEqual([]);
  expect(headerEdits('l.sql', 'SELECT 1', rename)).toEqual([]);
});

test('the header of a generated script', () => {
  const name = (schema: string, table: string) => ({ database: null, schema, table });
  const header = (stage: string, target: string) =>
    headerLine({
      pattern: 'satellite',
      platform: 'sqlserver',
      form: 'script',
      shape: 'separate',
      version: 1,
      source: name('stg', 'Unit'),
      target: name('dw', 'DimUnit'),
      options: { keys: ['no'], compare: [stage], mapping: { [target]: stage }, hash_key: { hk: ['no'] } },
    });
  const script = (line: string) => `-- Load\r\n${line}\r\nSELECT 'label';`;
  const text = script(header('label', 'label'));
  const edits = (table: string) =>
    headerEdits('l.sql', text, { table: tableIn({ tables }, table), column: 'label', newName: 'text' });
  expect(applied(text, edits('Unit'))).toBe(script(header('text', 'label')));
  expect(applied(text, edits('DimUnit'))).toBe(script(header('label', 'text')));
});
