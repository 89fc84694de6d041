/** What the metadata-driven procedure does at run time, in TypeScript: it finds a table's columns and fills its pieces. */
import { type ColumnClass, markOf, type Piece } from '../../server/src/generate/forms/dynamic-pieces.ts';
import { typeFacts } from '../../server/src/model/types.ts';

/** A table as the procedure finds it in the catalog. */
interface FoundTable {
  readonly schema: string;
  readonly table: string;
  /** In column order. A control column is one that the load keeps up itself. */
  readonly columns: readonly { readonly name: string; readonly class: ColumnClass; readonly isControl: boolean }[];
}

/** The statement that the procedure builds for a table: the text of the per-table procedure. */
export function assembled(pieces: readonly Piece[], table: FoundTable): string {
  const inner = { schema: table.schema, table: table.table };
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind !== 'columns') {
        const name = inner[piece.kind];
        return piece.within === 'brackets' ? name.replaceAll(']', ']]') : name.replaceAll("'", "''");
      }
      const { templates, controls, separator, first } = piece.run;
      const elements = table.columns.flatMap((of) => {
        const template = of.isControl ? controls[of.name] : templates[of.class];
        return template === undefined ? [] : [template.replaceAll(markOf('column'), of.name.replaceAll(']', ']]'))];
      });
      const joined = elements.join(separator);
      return first || elements.length === 0 ? joined : separator + joined;
    })
    .join('');
}

/** The class of a column by its type. */
export function classOf(type: string, isKey: boolean): ColumnClass {
  const { family, unicode, length } = typeFacts(type, true);
  const ansi = length !== null && length <= 4000 ? 'ansi' : 'long_ansi';
  const kind =
    family === 'text'
      ? unicode
        ? 'text'
        : ansi
      : family === 'binary' || family === 'rowversion'
        ? 'binary'
        : family === 'date' || family === 'time' || family === 'timestamp'
          ? 'time'
          : 'other';
  return isKey ? `key_${kind}` : kind;
}
