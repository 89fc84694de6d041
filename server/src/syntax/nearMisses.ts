/** Keywords that begin what may follow a part of a statement. */
const clauses = [
  'FROM',
  'WHERE',
  'GROUP',
  'HAVING',
  'ORDER',
  'LIMIT',
  'UNION',
  'INTERSECT',
  'EXCEPT',
  'VALUES',
  'QUALIFY',
];

/**
 * The keyword that a word seems to be meant for: one letter is wrong, missing, too much, or has changed places with
 * the next one. Null for words that are keywords themselves (`keyword` is not empty) and for all others.
 */
export function nearClause(word: string, keyword: string): string | null {
  if (keyword !== '') return null;
  return clauses.find((clause) => isNear(word, clause)) ?? null;
}

function isNear(word: string, clause: string): boolean {
  if (Math.abs(word.length - clause.length) > 1 || word === clause) return false;
  let from = 0;
  while (from < word.length && word[from] === clause[from]) from += 1;
  let [left, right] = [word.length, clause.length];
  while (left > from && right > from && word[left - 1] === clause[right - 1]) {
    left -= 1;
    right -= 1;
  }
  const [wrong, meant] = [word.slice(from, left), clause.slice(from, right)];
  if (wrong.length <= 1 && meant.length <= 1) return true;
  return wrong.length === 2 && wrong === `${meant[1]}${meant[0]}`;
}
