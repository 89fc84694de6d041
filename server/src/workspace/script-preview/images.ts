import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import { type Effect, imageRow } from './effect.ts';
import { anyNumber, effectTable, keptQuery, quoted } from './print.ts';

/**
 * An image is a copy of a table in a temporary table of the session. A script that goes on with what it wrote is followed on
 * it: each write's rows are found on the image as the writes before have left it, then written to the image.
 */
export function imageName(number: number, platform: PlatformName): string {
  return `${isTsql(platform) ? '#' : ''}mergewright_image_${number + 1}`;
}

/** The statements that make an image of a table. */
export function imageMade(image: string, table: CatalogTable, written: string, platform: PlatformName): string {
  const names = table.columns.map(({ name }) => quoted(name, platform));
  const rows = `SELECT ${names.join(', ')} FROM ${written}`;
  // A copy keeps NOT NULL and IDENTITY from a plain read, though not from a union with an outer join.
  const plain = names.map((name) => `plain.${name}`).join(', ');
  const loose = `SELECT ${plain} FROM (SELECT 1 AS one) AS single LEFT JOIN ${written} AS plain ON 1 = 0 WHERE 1 = 0`;
  const from = `FROM (\n${isTsql(platform) ? `${rows}\nUNION ALL\n${loose}` : rows}\n) AS kept`;
  return keptQuery(image, '', { select: `SELECT ${anyNumber(platform)} AS ${imageRow}, kept.*`, from }, platform);
}

/** The rows of an image as a source of FROM, without the alias. */
export function imageRows(image: string, table: CatalogTable, platform: PlatformName): string {
  return `(SELECT ${table.columns.map(({ name }) => quoted(name, platform)).join(', ')} FROM ${image})`;
}

/** The statement that writes an effect's rows to the image that they were found on. */
export function imageChanged(image: string, effect: Effect, number: number, platform: PlatformName): string {
  const kept = effectTable(number, platform);
  const assigned = effect.table.columns.flatMap(({ name }, index) =>
    effect.after.has(name) ? [{ name: quoted(name, platform), value: `a${index}` }] : [],
  );
  if (effect.kind === 'deleted') return `DELETE FROM ${image} WHERE ${imageRow} IN (SELECT target_row FROM ${kept});`;
  if (effect.kind === 'inserted') {
    const next = `(SELECT COALESCE(MAX(${imageRow}), 0) FROM ${image}) + ${anyNumber(platform)}`;
    const names = [imageRow, ...assigned.map(({ name }) => name)];
    const values = [next, ...assigned.map(({ value }) => value)];
    return `INSERT INTO ${image} (${names.join(', ')})\nSELECT ${values.join(', ')} FROM ${kept};`;
  }
  const sets = assigned.map(({ name, value }) => `${name} = found.${value}`).join(', ');
  return `UPDATE ${image} SET ${sets}\nFROM ${kept} AS found WHERE found.target_row = ${image}.${imageRow};`;
}
