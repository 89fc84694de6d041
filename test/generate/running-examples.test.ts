/** The two running examples on the embedded engine: the handbook's digest, and the time line of one department. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import type { RunResult } from '../../protocol/run.ts';
import type { Shape } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { bindParameters } from '../../server/src/generate/parameters.ts';
import type { GenerateRequest } from '../../server/src/generate/types.ts';
import { openMemorySession, shapes } from '../support/engine.ts';
import { departmentRequest, inOneDatabase, patientRequest } from '../support/examples.ts';

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

async function run(
  request: GenerateRequest,
  now: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  const { value, problems } = generateLoad(request);
  if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
  const batches = value.batches.map((batch) => {
    const bound = bindParameters(batch.text, parameters, 'duckdb');
    expect(bound.problems).toEqual([]);
    return { ...batch, text: bound.value };
  });
  return session.runLoad({ ...value, batches }, now);
}

test('patient 1 of EMED has the handbook’s key, and its hashdiff takes the attributes in order', async () => {
  await session.execute('CREATE SCHEMA "StageEmedsys"; CREATE SCHEMA raw;');
  await session.execute(
    'CREATE TABLE "StageEmedsys"."Dev_Patient_" (patient_id DECIMAL(10,0), address1 VARCHAR, address2 VARCHAR, city VARCHAR, state VARCHAR, zip VARCHAR);',
  );
  await session.execute(
    'CREATE TABLE raw."SatPatientAddressEMED_TEST" ("PatientKey" VARCHAR NOT NULL, "LoadDate" TIMESTAMP NOT NULL, "LoadProcess" VARCHAR NOT NULL, "RecordSource" VARCHAR NOT NULL, "HashDiff" VARCHAR NOT NULL, "Address1" VARCHAR, "Address2" VARCHAR, "City" VARCHAR, "State" VARCHAR, "Zip" VARCHAR, PRIMARY KEY ("PatientKey", "LoadDate"));',
  );
  await session.execute(
    `INSERT INTO "StageEmedsys"."Dev_Patient_" VALUES (1, '1 Main St', NULL, 'Austin', 'TX', '78701');`,
  );
  const parameters = { LoadProcess: 'nightly', RecordSource: 'EMED', SourceSystem: 'EMED' };
  const first = await run(patientRequest('duckdb'), '2024-03-01 06:00:00', parameters);
  expect(first.error).toBeNull();
  expect(first.counts).toMatchObject({ inserted: 1, unchanged: 0, skipped: 0 });
  const rows = await session.query(
    `SELECT "PatientKey", "HashDiff" = sha256('01 Main StAustinTX78701'), "LoadProcess" FROM raw."SatPatientAddressEMED_TEST"`,
  );
  expect(rows).toEqual([['e2a444e0a4fb825e126e4d206aa3448985d9f1dd452d7a3b3882a65a1c016b92', true, 'nightly']]);
  const again = await run(patientRequest('duckdb'), '2024-03-02 06:00:00', parameters);
  expect(again.counts).toMatchObject({ inserted: 0, unchanged: 1 });
});

describe.each(shapes)('one department, shape %s', (shape: Shape) => {
  const request = inOneDatabase(departmentRequest('duckdb', 'script', shape));
  /** Departments beside the one that is followed, so that one absence stays below the limit of a fifth. */
  const others = Array.from({ length: 9 }, (_, index) => `(${index + 2}, 'Other ${index}', NULL)`).join(', ');

  async function deliver(row: string | null, now: string): Promise<RunResult> {
    await session.execute('DELETE FROM stg."Department"');
    const values = row === null ? others : `${row}, ${others}`;
    await session.execute(
      `INSERT INTO stg."Department" ("DepartmentID", "DepartmentName", "Location") VALUES ${values}`,
    );
    const result = await run(request, now);
    expect(result.error).toBeNull();
    return result;
  }

  function versions() {
    return session.query(
      `SELECT "DepartmentName", CAST("EffectiveStartDT" AS VARCHAR), CAST("EffectiveExpireDT" AS VARCHAR), "CurrentRowYN", CAST("SourceInactiveDT" AS VARCHAR) FROM ps."Department" WHERE "DepartmentID" = 1 ORDER BY "EffectiveStartDT"`,
    );
  }

  test('vanishes, comes back, changes twice on one day and vanishes again', async () => {
    await session.execute(
      'DROP SCHEMA IF EXISTS stg CASCADE; DROP SCHEMA IF EXISTS ps CASCADE; CREATE SCHEMA stg; CREATE SCHEMA ps;',
    );
    await session.execute(
      'CREATE TABLE stg."Department" ("DepartmentID" INTEGER NOT NULL, "DepartmentName" VARCHAR, "Location" VARCHAR, "SourceInactiveDT" TIMESTAMP);',
    );
    await session.execute(
      'CREATE TABLE ps."Department" ("DepartmentID" INTEGER NOT NULL, "DepartmentName" VARCHAR, "Location" VARCHAR, "SourceInactiveDT" TIMESTAMP, "EffectiveStartDT" TIMESTAMP NOT NULL, "EffectiveExpireDT" TIMESTAMP NOT NULL, "CurrentRowYN" VARCHAR NOT NULL, "PSInsertDT" TIMESTAMP, "CheckSum" INTEGER, PRIMARY KEY ("DepartmentID", "EffectiveStartDT"));',
    );
    const far = '4000-01-01 00:00:00';
    await deliver(`(1, 'Help Desk', 'Nashville')`, '2024-03-01 08:00:00');
    expect(await versions()).toEqual([['Help Desk', '1900-01-01 00:00:00', far, 'Y', null]]);

    const gone = await deliver(null, '2024-03-02 08:00:00');
    expect(gone.counts).toMatchObject({ inserted: 1, expired: 1, inactivated: 1, updated: 0, unchanged: 9 });
    const first = ['Help Desk', '1900-01-01 00:00:00', '2024-03-01 23:59:59.997', 'N', null];
    expect(await versions()).toEqual([first, ['Help Desk', '2024-03-02 00:00:00', far, 'Y', '2024-03-02 00:00:00']]);

    await deliver(`(1, 'Help Desk', 'Nashville')`, '2024-03-02 12:00:00');
    expect(await versions()).toEqual([first, ['Help Desk', '2024-03-02 00:00:00', far, 'Y', null]]);

    await deliver(`(1, 'Service Desk', 'Nashville')`, '2024-03-03 08:00:00');
    const second = ['Help Desk', '2024-03-02 00:00:00', '2024-03-02 23:59:59.997', 'N', null];
    expect(await versions()).toEqual([first, second, ['Service Desk', '2024-03-03 00:00:00', far, 'Y', null]]);

    const twice = await deliver(`(1, 'Service Point', 'Memphis')`, '2024-03-03 12:00:00');
    expect(twice.counts).toMatchObject({ inserted: 0, expired: 0, updated: 1, unchanged: 9 });
    expect(await versions()).toEqual([first, second, ['Service Point', '2024-03-03 00:00:00', far, 'Y', null]]);

    const absent = await deliver(null, '2024-03-03 18:00:00');
    expect(absent.counts).toMatchObject({ inserted: 0, expired: 0, updated: 1, inactivated: 1 });
    expect(await versions()).toEqual([
      first,
      second,
      ['Service Point', '2024-03-03 00:00:00', far, 'Y', '2024-03-03 00:00:00'],
    ]);
  });
});
