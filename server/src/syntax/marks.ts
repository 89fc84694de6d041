import type { Family } from './dialect.ts';

const tsqlMarkList =
  '( ) , . ; : :: = < > <= >= <> != !< !> + - * / % & | ^ ~ += -= *= /= %= &= |= ^= || ||= << >> ! { }'.split(' ');
const otherMarkList =
  '( ) , . ; : :: := = == < > <= >= <> != <=> + - * / // % & | ^ ~ || << >> [ ] { } -> ->> => ! ** @> <@ && |> @ # \\'.split(
    ' ',
  );
/** By character code: marks that are no prefix of another mark. */
const singleMarks: readonly (string | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const mark = String.fromCharCode(code);
  return '(),;.'.includes(mark) ? mark : undefined;
});
/** DuckDB's operators for patterns, regular expressions and prefixes. */
const duckdbMarkList = [...otherMarkList, ...'!~ ~~ !~~ ~~* !~~* ~~~ ^@'.split(' ')];
const mapOf = (list: readonly string[]): ReadonlyMap<string, string> => new Map(list.map((mark) => [mark, mark]));
const marks: Readonly<Record<Family, ReadonlyMap<string, string>>> = {
  tsql: mapOf(tsqlMarkList),
  spark: mapOf(otherMarkList),
  duckdb: mapOf(duckdbMarkList),
};

/** The longest mark of punctuation that stands at an offset, undefined where none does. */
export function markAt(text: string, position: number, limit: number, family: Family): string | undefined {
  // The commonest marks begin no longer one.
  const single = singleMarks[text.charCodeAt(position)];
  if (single !== undefined) return single;
  const table = marks[family];
  for (let length = Math.min(4, limit - position); length > 0; length -= 1) {
    const mark = table.get(text.slice(position, position + length));
    if (mark !== undefined) return mark;
  }
  return undefined;
}
