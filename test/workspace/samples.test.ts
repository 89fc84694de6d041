import { describe, expect, test } from 'vitest';
import { NodeFiles } from '../../cli/src/files.ts';
import { formatTableName } from '../../server/src/model/names.ts';
import { Folder } from '../../server/src/workspace/folder.ts';
import { parameterValues } from '../../server/src/workspace/settings.ts';

describe('samples/warehouse', () => {
  const read = async () => {
    const folder = new Folder(new NodeFiles(process.cwd()), '.');
    expect(await folder.read(['samples/warehouse'])).toEqual([]);
    return folder;
  };

  test('four tables with their roles, keys and no problem', async () => {
    const folder = await read();
    expect(folder.problems).toEqual([]);
    const lines = folder.catalog.tables.map(
      (table) =>
        `${formatTableName(table.name)} ${table.platform} ${table.role} ${table.keys.map((key) => `${key.kind} ${key.columns.join('+')}`).join()}`,
    );
    expect(lines.sort()).toEqual([
      'PersistentStaging.dbo.Department sqlserver persistent-staging primary-key DepartmentID+EffectiveStartDT',
      'StageEmedsys.Dev_Patient_ synapse staging inferred patient_id',
      'Staging.dbo.Department sqlserver staging inferred DepartmentID',
      'raw.SatPatientAddressEMED_TEST synapse satellite inferred PatientKey+LoadDate',
    ]);
    for (const table of folder.catalog.tables) expect(table.confidence).toBeGreaterThan(0.8);
  });

  test('its loads, with the options and parameter values of mergewright.json', async () => {
    const folder = await read();
    expect(folder.loads.map((load) => load.title)).toEqual([
      'SCD 2 by day · load from Department',
      'Satellite · load from Dev_Patient_',
      'Inactivation · load from Department',
    ]);
    const satellite = folder.loads[1];
    expect(satellite?.specification.options.hash_rules).toEqual({ preset: 'legacy-concat' });
    if (satellite === undefined) throw new Error('no satellite');
    const settings = folder.settingsOf('samples/warehouse/synapse/x.sql');
    expect(parameterValues(settings, satellite.specification)).toEqual({
      LoadProcess: 'samples',
      RecordSource: 'EMED',
      SourceSystem: 'EMED',
    });
    expect(folder.loads[0]?.specification.options).toMatchObject({
      grain: 'day',
      closing: 'minus-3-ms',
      open_end: '4000-01-01 00:00:00',
    });
  });
});
