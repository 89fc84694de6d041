import { describe, expect, test } from 'vitest';
import { columnMapping } from '../../server/src/features/mapping.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { bareTable } from '../support/bare-table.ts';

const stage = bareTable('Stage', {
  patient_id: 'decimal(10,0)',
  city: 'varchar(50)',
  zip: 'varchar(10)',
  rest: 'int',
  a_name: 'varchar(5)',
});
const target = {
  ...bareTable('Target', {
    PatientId: 'decimal(10,0)',
    City: 'varchar(30)',
    Zip: 'int',
    LoadDate: 'datetime',
    Source: 'varchar(9)',
    Other: 'int',
  }),
};
const satellite = {
  ...target,
  columns: target.columns.map((column) =>
    column.name === 'LoadDate'
      ? { ...column, role: 'load-date' as const }
      : column.name === 'Other'
        ? { ...column, nullable: false }
        : column,
  ),
};

describe('columns side by side', () => {
  const { columns, sources } = columnMapping(
    stage,
    satellite,
    { parameters: { source: 'RecordSource' } },
    defaultConventions,
  );
  const of = (name: string) => columns.find((column) => column.target === name);

  test.each([
    ['PatientId', 'patient_id', 'matched', 'The names differ in case and underscores only.'],
    ['City', 'city', 'narrowed', 'The names are equal. varchar(50) may not fit into varchar(30).'],
    ['Zip', 'zip', 'converted', 'The names are equal. varchar(10) is converted to int.'],
    ['LoadDate', null, 'made-by-load', 'Kept up by the load itself.'],
    ['Source', null, 'made-by-load', 'Filled by the load parameter RecordSource.'],
    ['Other', null, 'unmatched', 'Nothing in the stage fits, and the column is NOT NULL.'],
  ])('%s', (name, source, state, note) => {
    expect(of(name)).toMatchObject({ source, state, note });
  });

  test('stage columns that nothing takes are told apart', () => {
    expect(sources.filter((source) => !source.isUsed).map((source) => source.name)).toEqual(['rest', 'a_name']);
  });

  test('a chosen source goes before a name', () => {
    const chosen = columnMapping(stage, satellite, { mapping: { City: 'a_name' } }, defaultConventions);
    expect(chosen.columns.find((column) => column.target === 'City')).toMatchObject({
      source: 'a_name',
      state: 'matched',
      note: 'Chosen by a person.',
    });
  });
});
