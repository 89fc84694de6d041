/** The load of a hand-written script in a folder, for the tests of its preview. */
import type { PlatformName } from '../../protocol/platform.ts';
import { calledProcedures } from '../../server/src/workspace/called-procedures.ts';
import { executableLoad } from '../../server/src/workspace/executable.ts';
import { folderOf } from './folders.ts';

/** A small warehouse on the embedded engine. */
export const customerDdl = `
CREATE SCHEMA stg;
CREATE SCHEMA dw;
CREATE TABLE stg.customer (customer_no VARCHAR NOT NULL, city VARCHAR, is_deleted BOOLEAN);
CREATE TABLE dw.customer (
  customer_key INTEGER NOT NULL PRIMARY KEY,
  customer_no VARCHAR NOT NULL,
  city VARCHAR,
  note VARCHAR DEFAULT 'none',
  valid_from DATE NOT NULL,
  valid_to DATE NOT NULL,
  is_current BOOLEAN NOT NULL
);
CREATE VIEW dw.current_customer AS SELECT * FROM dw.customer WHERE is_current;
`;

/** What runs and what previews a script, in a folder with these definitions and maybe a procedure. */
export async function loadOf(text: string, platform: PlatformName, definitions: string, procedure = '') {
  const folder = await folderOf({ 'ddl.sql': definitions, 'procedures/load.sql': procedure }, { platform });
  const procedures = await calledProcedures(folder, text, platform);
  const { value } = executableLoad(folder, { text, platform, parameters: {}, title: 'script', procedures });
  if (value === null) throw new Error('the script does not run');
  return value;
}
