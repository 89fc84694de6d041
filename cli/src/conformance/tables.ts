/** The tables of one case on the engine: created, widened and filled step by step, read back as text. */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { LoadTables } from '../../../server/src/generate/types.ts';
import { buildCatalog } from '../../../server/src/model/catalog.ts';
import { readDefinitions } from '../../../server/src/model/definitions.ts';
import { parse } from '../../../server/src/syntax/parse.ts';
import { type Dialect, noKeys, type TableKeys } from './dialect.ts';
import { type CaseRow, type CaseStep, type ConformanceCase, columnsOf, type NeutralColumns } from './format.ts';
import { textRow } from './hashes.ts';
import { stageKeys, targetKeys } from './keys.ts';
import type { CaseSession } from './session.ts';
import type { CaseTableNames, LoadForm } from './specification.ts';
import { type TextRow, textOfResult } from './values.ts';

export interface CaseSettings extends LoadForm {
  readonly dialect: Dialect;
  /** Create the keys that the case's rows allow, instead of tables without any. */
  readonly enforced: boolean;
}

export class CaseTables {
  readonly names: CaseTableNames;
  /** The schema the tables are in; null where names stand alone. */
  readonly schema: string | null;
  readonly #owner: ConformanceCase;
  readonly #session: CaseSession;
  readonly #settings: CaseSettings;
  readonly #keys: { readonly stage: TableKeys; readonly target: TableKeys };
  #stageColumns: NeutralColumns | undefined;
  #targetColumns: NeutralColumns = {};
  #lastRows: readonly TextRow[] = [];

  private constructor(owner: ConformanceCase, prefix: string, session: CaseSession, settings: CaseSettings) {
    this.#owner = owner;
    this.#session = session;
    this.#settings = settings;
    this.schema = settings.platform.name === 'duckdb' ? null : 'dbo';
    const extra = Object.keys(owner.tables.extra ?? {}).map((role) => [role, prefix + role] as const);
    this.names = { stage: `${prefix}stage`, target: `${prefix}target`, extra: Object.fromEntries(extra) };
    this.#keys = settings.enforced
      ? { stage: stageKeys(owner), target: targetKeys(owner) }
      : { stage: noKeys, target: noKeys };
  }

  /** Creates the target with its initial rows, and the extra tables. A view's target is created by its load. */
  static async create(
    owner: ConformanceCase,
    prefix: string,
    session: CaseSession,
    settings: CaseSettings,
  ): Promise<CaseTables> {
    const tables = new CaseTables(owner, prefix, session, settings);
    const { dialect } = settings;
    const columns = columnsOf(owner.tables.target, owner.initial_target_columns ?? owner.steps[0]?.target_columns);
    tables.#targetColumns = columns;
    if (owner.config.kind !== 'view') {
      await session.execute(
        dialect.createTable(tables.names.target, columns, narrowedKeys(tables.#keys.target, columns)),
      );
    }
    await tables.#insert(tables.names.target, columns, owner.initial_target_rows ?? []);
    for (const [role, table] of Object.entries(tables.names.extra)) {
      await session.execute(dialect.createTable(table, owner.tables.extra?.[role] ?? {}, noKeys));
    }
    tables.#lastRows = (owner.initial_target_rows ?? []).map((row) => textRow(row, columns, owner));
    return tables;
  }

  /** Brings stage, extra tables and the target's columns to a step's state. Returns the target's rows before the load. */
  async prepare(step: CaseStep): Promise<readonly TextRow[]> {
    const { stage, target, extra = {} } = this.#owner.tables;
    const { dialect } = this.#settings;
    await this.#replaceStage(columnsOf(stage, step.stage_columns), step.stage_rows);
    const wanted = columnsOf(target, step.target_columns);
    for (const [name, type] of Object.entries(wanted)) {
      if (!(name in this.#targetColumns)) {
        await this.#session.execute(dialect.addColumn(this.names.target, name, type));
      }
    }
    this.#targetColumns = wanted;
    for (const [role, rows] of Object.entries(step.extra_rows ?? {})) {
      const table = this.names.extra[role];
      if (table === undefined) throw new Error(`extra table ${role} is not declared`);
      await this.#session.execute(dialect.deleteRows(table));
      await this.#insert(table, extra[role] ?? {}, rows);
    }
    return this.#lastRows.map((row) =>
      Object.fromEntries(Object.keys(wanted).map((name) => [name, row[name] ?? null])),
    );
  }

  /** The whole target as it is now. */
  async targetRows(): Promise<readonly TextRow[]> {
    const columns = Object.entries(this.#targetColumns);
    const rows = await this.#session.query(this.#settings.dialect.selectRows(this.names.target, this.#targetColumns));
    this.#lastRows = rows.map((row) =>
      Object.fromEntries(columns.map(([name, type], i) => [name, textOfResult(row[i] ?? null, type)])),
    );
    return this.#lastRows;
  }

  expectedRows(step: CaseStep): readonly TextRow[] {
    return step.expected_target_rows.map((row) => textRow(row, this.#targetColumns, this.#owner));
  }

  /** The tables of a step as the product reads them from their DDL. */
  catalog(step: CaseStep): LoadTables {
    const { stage, extra = {} } = this.#owner.tables;
    const { dialect, platform } = this.#settings;
    const stageColumns = columnsOf(stage, step.stage_columns);
    const ddl = [
      dialect.createTable(this.names.stage, stageColumns, narrowedKeys(this.#keys.stage, stageColumns)),
      dialect.createTable(this.names.target, this.#targetColumns, narrowedKeys(this.#keys.target, this.#targetColumns)),
      ...Object.entries(this.names.extra).map(([role, table]) => dialect.createTable(table, extra[role] ?? {}, noKeys)),
    ];
    const script = parse(ddl.join('\n'), { platform: platform.name });
    const { tables } = buildCatalog([readDefinitions(script, '')]);
    const tableOf = (name: string): CatalogTable => {
      const found = tables.find((table) => table.name.table === name);
      if (found === undefined) throw new Error(`the catalog does not know ${name} from its DDL`);
      return found;
    };
    return {
      source: tableOf(this.names.stage),
      target: tableOf(this.names.target),
      extra: Object.fromEntries(Object.entries(this.names.extra).map(([role, table]) => [role, tableOf(table)])),
    };
  }

  async #replaceStage(columns: NeutralColumns, rows: readonly CaseRow[]): Promise<void> {
    const { dialect } = this.#settings;
    const former = this.#stageColumns;
    if (former !== undefined && Object.keys(former).join() === Object.keys(columns).join()) {
      await this.#session.execute(dialect.deleteRows(this.names.stage));
    } else {
      if (former !== undefined) await this.#session.execute(dialect.dropTable(this.names.stage));
      await this.#session.execute(
        dialect.createTable(this.names.stage, columns, narrowedKeys(this.#keys.stage, columns)),
      );
    }
    this.#stageColumns = columns;
    await this.#insert(this.names.stage, columns, rows);
  }

  async #insert(table: string, columns: NeutralColumns, rows: readonly CaseRow[]): Promise<void> {
    const texts = rows.map((row) => textRow(row, columns, this.#owner));
    for (const statement of this.#settings.dialect.insertRows(table, columns, texts)) {
      await this.#session.execute(statement);
    }
  }
}

/** Keys over columns that the table has; a key that lacks one of its columns is left out. */
function narrowedKeys(keys: TableKeys, columns: NeutralColumns): TableKeys {
  const present = (name: string): boolean => name in columns;
  return {
    primaryKey: keys.primaryKey.every(present) ? keys.primaryKey : [],
    notNull: keys.notNull.filter(present),
    unique: keys.unique.filter((names) => names.every(present)),
  };
}

/** Drops every table and view whose name begins so, views first: an engine may refuse to drop the table under one. */
export async function dropTables(prefix: string, session: CaseSession, dialect: Dialect): Promise<void> {
  const found = await session.query(dialect.listTables(prefix));
  const named = (kind: string): readonly string[] =>
    found.filter((row) => row[1] === kind).map((row) => String(row[0]));
  for (const view of named('VIEW')) await session.execute(dialect.dropView(view));
  for (const table of named('BASE TABLE')) await session.execute(dialect.dropTable(table));
}
