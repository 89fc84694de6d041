/** Further tables that a load reads, found by their role, and their columns found by name or role. */
import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import type { ColumnRole } from '../../../../protocol/roles.ts';
import { compactName, fitsPattern } from '../../model/names.ts';
import { isNotNull, item, select, source, table } from '../build.ts';
import { columnOf, columnType, converted, findColumn, type LoadContext, report } from '../context.ts';
import type { Step } from '../plan.ts';
import type { NamedColumn } from './staging.ts';

/** The table of a role; a problem, and undefined, when the specification names none. */
export function extraTable(context: LoadContext, role: string): CatalogTable | undefined {
  const found = context.extra[role];
  if (found === undefined) {
    report(
      context,
      'missing-table',
      `${context.target.name.table} is built from ${role}, but no table is given for it: state it under "extra" as "${role}".`,
    );
  }
  return found;
}

/** A column by its name; else the one with this role; else by patterns of names. */
export function columnIn(
  context: LoadContext,
  of: CatalogTable,
  name: string | undefined,
  role: ColumnRole,
  patterns: readonly string[],
): CatalogColumn | undefined {
  const found =
    of.columns.find((column) => name !== undefined && compactName(column.name) === compactName(name)) ??
    of.columns.find((column) => column.role === role) ??
    of.columns.find((column) => fitsPattern(column.name, patterns));
  if (found === undefined) {
    report(
      context,
      'missing-column',
      `${of.name.table} has no column ${name ?? patterns[0] ?? role}; correct its role in mergewright.json.`,
    );
  }
  return found;
}

/** The dates that a table is built for: `as_of`, a column of the stage and of the target. */
export interface Dates {
  /** The column of `dates`, in the target's name and type. */
  readonly asOf: NamedColumn;
  readonly step: Step;
}

export function datesOf(context: LoadContext): Dates | null {
  const { options, source: from, target } = context;
  const name = options.as_of ?? 'as_of';
  const staged = findColumn(context, from, name, 'as_of');
  const stored = findColumn(context, target, name, 'as_of');
  if (staged === undefined || stored === undefined) return null;
  const type = columnType(target, stored);
  const value = columnOf('s', from, staged);
  return {
    asOf: { name: stored.name, type },
    step: {
      kind: 'let',
      says: 'The dates, each once.',
      name: 'dates',
      query: select([item(stored.name, converted(value, type))], source(table(from.name), 's'), {
        distinct: true,
        where: [isNotNull(value)],
      }),
    },
  };
}
