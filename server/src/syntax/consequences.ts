import type { Script, SyntaxProblem, Unit } from './tree.ts';

/**
 * The units of which some problems follow from a mistake in an earlier unit of their batch, each with the problems that
 * stand on their own. Units are read one by one, so that none knows what went wrong before it.
 */
export function consequencesIn(script: Script): ReadonlyMap<Unit, readonly SyntaxProblem[]> {
  const own = new Map<Unit, readonly SyntaxProblem[]>();
  for (const { units } of script.batches) {
    let faulty = false;
    let previous: Unit | undefined;
    for (const unit of units) {
      if (unit.problems.length > 0) {
        const ofOwn = isRest(script, unit, previous) ? [] : faulty ? unit.problems.filter(standsAlone) : unit.problems;
        if (ofOwn.length < unit.problems.length) own.set(unit, ofOwn);
        faulty = true;
      }
      previous = unit;
    }
  }
  return own;
}

/** The rest of a statement that broke off at its semicolon: `SET NOCOUNT ; ON`. */
function isRest(script: Script, unit: Unit, previous: Unit | undefined): boolean {
  const { statement } = unit;
  const begins = script.text.charAt(unit.offset + statement.start);
  if (begins !== '(' && !(statement.kind === 'opaque' && statement.name === '')) return false;
  const last = previous?.problems[previous.problems.length - 1];
  if (previous === undefined || last === undefined) return false;
  return script.text.slice(previous.offset + last.start, previous.offset + last.end) === ';';
}

/** An END, ELSE or CATCH whose beginning was lost in a mistake before it says nothing new. */
function standsAlone({ message }: SyntaxProblem): boolean {
  return !/^Expected a statement, but found '(?:END|ELSE|CATCH)'\.$/i.test(message);
}
