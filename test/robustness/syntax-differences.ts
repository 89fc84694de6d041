import { nodesAt, unitAt } from '../../server/src/syntax/inspect.ts';
import type { Script } from '../../server/src/syntax/tree.ts';

/** A text on which our parser and Microsoft's differ. */
export interface Difference {
  readonly text: string;
  readonly script: Script;
  /** Microsoft's message and the offset where it stands; null where only we complain. */
  readonly refusal: { readonly message: string; readonly offset: number } | null;
}

export interface Explanation {
  readonly reason: string;
  readonly applies: (difference: Difference) => boolean;
}

/** What only Microsoft's parser refuses, with the reason why we leave it alone. */
export const refusedByMicrosoftOnly: readonly Explanation[] = [
  {
    reason:
      'Of opaque statements, clauses and options only the bounds are known, and the form that all statements share.',
    applies: ({ text, script, refusal }) => {
      const at = text.slice(0, refusal?.offset ?? 0).trimEnd().length;
      return [at, at - 1, at - 2].some((offset) => {
        const unit = unitAt(script, offset);
        if (unit === undefined) return false;
        return nodesAt(unit, offset).some(
          (node) => node.kind === 'opaque' || node.kind === 'opaque-clause' || node.kind === 'option',
        );
      });
    },
  },
  {
    reason:
      'Which type takes which options, which index has which name and what a temporal table needs is meaning, not grammar.',
    applies: ({ refusal }) =>
      /does not allow a database name|Temporal tables require|is not a valid index option|can only be declared|part names are required|you must provide both|requires? a? ?distribution/i.test(
        refusal?.message ?? '',
      ),
  },
  {
    reason: 'An empty part between the dots of a name is refused in columns only: a table may leave its schema out.',
    applies: ({ text, refusal }) => /\.\s+\.\s/.test(text) && /Incorrect syntax near/.test(refusal?.message ?? ''),
  },
  {
    reason: 'COLLATE behind NULL and NOT NULL works on the server.',
    applies: ({ refusal, text }) => /near 'COLLATE'/i.test(refusal?.message ?? '') && /NULL\s+COLLATE/i.test(text),
  },
  {
    reason:
      'Any function in FROM may have a column schema behind it, a star or a name: new ones do not wait for a new grammar.',
    applies: ({ text }) => /FROM\s+\w+\s*\([^)]*\)\s*(?:WITH\s*\(|\.)|FROM\s+\w+\s*\([^)]*\*/i.test(text),
  },
  {
    reason: 'Functions of which Microsoft knows the count of arguments may be called without any.',
    applies: ({ text, refusal }) => /near '\)'/.test(refusal?.message ?? '') && /\w\s*\(\s*\)/.test(text),
  },
  {
    reason: "ODBC's escapes in braces are checked as far as their braces and content.",
    applies: ({ text }) => /\{\s*\w*/.test(text),
  },
  {
    reason: 'A name alone at the start of a batch is a call of a procedure, whatever follows it as one word.',
    applies: ({ text }) => /(?:^|;)\s*\w+\s+\w+\s*[:;]/.test(text),
  },
  {
    reason: 'A word before a colon is a label wherever it stands.',
    applies: ({ text }) => /\w\s*:(?!:)/.test(text),
  },
  {
    reason: "PARTITION may be a window's name.",
    applies: ({ text }) => /PARTITION\s+PARTITION/i.test(text),
  },
];

/** What only we refuse, with the reason. */
export const refusedByUsOnly: readonly Explanation[] = [
  {
    reason: 'INSERT, UPDATE and DELETE through a table-valued function, which no server lets write.',
    applies: ({ text }) => /(?:INTO|INSERT|DELETE|UPDATE|FROM)\s+[\w.]+\s*\(\s*['\d)]/i.test(text),
  },
  {
    reason: 'A name that begins with a dot leaves out what no server can guess.',
    applies: ({ text }) => /(?:^|[\s,(])\.\s*\w/.test(text),
  },
  {
    reason: 'FETCH without OFFSET is read as the fetch of a cursor by Microsoft, which has no such cursor.',
    applies: ({ text }) => /FETCH\s*(?:NEXT|$)/i.test(text),
  },
  {
    reason:
      'Microsoft takes any word behind CURRENT in a window frame, and MERGE without RANGE for a partition function.',
    applies: ({ text }) => /CURRENT\s+ROW\w|FUNCTION\s+\w+\s*\(\)\s*(?:SPLIT|MERGE)\s*$/i.test(text),
  },
  {
    reason: 'GO with more than a count on its line separates nothing; Microsoft takes it for a separator.',
    applies: ({ text }) => /^\s*GO\b.*\S/im.test(text),
  },
  {
    reason: 'DISTRIBUTION and its like are told to be Synapse syntax on SQL Server.',
    applies: ({ script }) =>
      script.batches.some((batch) =>
        batch.units.some((unit) =>
          unit.problems.some((problem) => / is (?:Synapse|Fabric) syntax/.test(problem.message)),
        ),
      ),
  },
];
