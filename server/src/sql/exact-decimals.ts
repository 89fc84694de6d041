import { cast } from '../load/build.ts';
import { converted } from '../load/context.ts';
import { type Item, type Query, typeOf, type Union, type ValueType, valueType } from '../load/language.ts';

/** Digits that a double, in which the driver of SQL Server hands decimals over, holds for certain. */
const exactDigits = 15;
/** 38 digits, a sign, a point and a zero before it. */
const decimalText = valueType('varchar(41)');
const moneyDigits = valueType('decimal(19,4)');

/**
 * A query for SQL Server whose result shows every digit of its decimals: values with more digits than a double holds are
 * read as text. It is for queries of our own alone; what a person wrote is sent as it is.
 *
 * @param typeOfItem type in which an item is shown; its expression's own where it is left out
 */
export function exactDecimals(
  query: Query | Union,
  typeOfItem: (item: Item) => ValueType | null = ({ value }) => typeOf(value),
): Query | Union {
  if (query.kind === 'union') return { ...query, parts: query.parts.map((part) => withTexts(part, typeOfItem)) };
  return withTexts(query, typeOfItem);
}

function withTexts(query: Query, typeOfItem: (item: Item) => ValueType | null): Query {
  const items = query.items.map((item): Item => {
    const type = typeOfItem(item);
    if (type === null || !isInexact(type)) return item;
    return { ...item, value: cast(converted(item.value, digitsOf(type)), decimalText) };
  });
  return { ...query, items };
}

/** The same for a value in the text of a T-SQL query. */
export function exactText(value: string, type: ValueType): string {
  return isInexact(type) ? `CAST(CAST(${value} AS ${digitsOf(type).text}) AS ${decimalText.text})` : value;
}

function isInexact({ facts }: ValueType): boolean {
  return facts.family === 'decimal' && (facts.precision ?? 0) > exactDigits;
}

/** CAST of money to text rounds to two digits. */
function digitsOf(type: ValueType): ValueType {
  return type.facts.base === 'money' ? moneyDigits : type;
}
