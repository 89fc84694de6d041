/** Types of T-SQL that stand in no comparison: rows are grouped and sorted by what their values convert to. */
import { type Expression, typeOf, type ValueType, valueType } from '../load/language.ts';

/** Errors 305, 306 and 249: these types are neither compared nor sorted nor grouped. */
const comparedAs: Readonly<Record<string, string>> = {
  xml: 'nvarchar(max)',
  json: 'nvarchar(max)',
  vector: 'nvarchar(max)',
  ntext: 'nvarchar(max)',
  text: 'varchar(max)',
  image: 'varbinary(max)',
  geography: 'varbinary(max)',
  geometry: 'varbinary(max)',
};

/** The type by which values of an incomparable type are told apart; null for every other type. */
export function comparedType(e: Expression): ValueType | null {
  const type = typeOf(e);
  const name = type?.origin === 'tsql' ? comparedAs[type.facts.base] : undefined;
  return name === undefined ? null : valueType(name);
}

/** A converted value in its own type again. What is text or bytes converts by itself where it is stored. */
export function restored(converted: string, type: ValueType): string {
  switch (type.facts.base) {
    case 'text':
    case 'ntext':
    case 'image':
      return converted;
    case 'xml':
      // Style 1 keeps the white space.
      return `CONVERT(xml, ${converted}, 1)`;
    default:
      return `CONVERT(${type.text}, ${converted})`;
  }
}
