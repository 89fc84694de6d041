import { carriageReturn, isBlank, newline } from './characters.ts';

/** The comment that separates the cells of a Databricks notebook kept as a file. */
export const cellBorder = '-- COMMAND ----------';

/** True if only blanks and finished comments stand between the start of the line and the offset. */
export function isAtLineStart(text: string, offset: number): boolean {
  let position = offset - 1;
  while (position >= 0) {
    const code = text.charCodeAt(position);
    if (code === newline || code === carriageReturn) return true;
    if (code === 47 && text.charCodeAt(position - 1) === 42) {
      const open = text.lastIndexOf('/*', position - 2);
      if (open < 0) return false;
      position = open - 1;
    } else if (isBlank(code)) position -= 1;
    else return false;
  }
  return true;
}

/** Only blanks stand between the offset and the cell border or the start of the text before it. */
export function isAtCellStart(text: string, offset: number): boolean {
  const border = text.lastIndexOf(cellBorder, offset);
  return text.slice(border < 0 ? 0 : border + cellBorder.length, offset).trim() === '';
}
