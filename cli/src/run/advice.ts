import type { RunError } from '../../../protocol/run.ts';

/** What to do about an error of a run, in one sentence; '' where its message says it. */
export function adviceFor({ code, line }: RunError): string {
  const known = advice.find(({ codes }) => codes.includes(code));
  if (known !== undefined) return known.text;
  // A guard of the load names what it stopped for and the keys; the rows are what can be mended.
  if (/^[a-z]+(_[a-z]+)+$/.test(code))
    return 'Correct these rows in the source, or the option of the load that stops for them.';
  return line === null ? '' : 'Correct the script there, then run it again.';
}

interface Advice {
  /** Error numbers of SQL Server, kinds of errors of DuckDB, codes of the runner. */
  readonly codes: readonly string[];
  readonly text: string;
}

const advice: readonly Advice[] = [
  {
    codes: ['208', '2812', '911', 'Catalog Error'],
    text: 'Check the name, and that the connection leads to the database that has it; seed makes the tables of DDL on the embedded engine.',
  },
  {
    codes: ['207', '209', '4104', 'Binder Error'],
    text: 'Check the names of columns against the tables of this database.',
  },
  {
    codes: ['102', '156', '105', '319', '137', 'Parser Error'],
    text: 'Correct the syntax; mergewright lint shows where it breaks.',
  },
  {
    codes: ['229', '230', '262', '297', '300', '916', 'Permission Error'],
    text: 'Ask for the permission, or connect with a login that has it.',
  },
  {
    codes: ['2601', '2627', '515', '547', 'Constraint Error'],
    text: 'mergewright preview names the keys and the missing values; correct them in the source or in the script.',
  },
  {
    codes: ['8672'],
    text: 'Keep one row a key in the source of the MERGE; mergewright preview names the keys that it has twice.',
  },
  {
    codes: ['245', '241', '242', '8114', '8115', '8152', '2628', '220', 'Conversion Error', 'Out of Range Error'],
    text: 'Find the values that do not fit the column, or make the column wider.',
  },
  {
    codes: ['1205', '3960', '24556'],
    text: 'Run it again; with "retries" in the profile a whole transaction is tried again by itself.',
  },
  { codes: ['concurrent_load'], text: 'Wait until the other load has ended, then run it again.' },
  { codes: ['1222'], text: 'Another session holds the rows; wait for it, then run it again.' },
  { codes: ['Out of Memory Error'], text: 'Close other programs, or load fewer rows at a time.' },
  {
    codes: ['IO Error', 'Transaction Error', 'TransactionContext Error'],
    text: 'Close other programs that have the database open, then run it again.',
  },
  { codes: ['connection_lost'], text: 'Check the connection before you run it again.' },
  { codes: ['time_limit'], text: 'Raise "runTimeoutSeconds" in the profile, or load fewer rows at a time.' },
  {
    codes: ['dry_run_refused', 'open_transaction'],
    text: '',
  },
  {
    codes: ['dry_run_committed'],
    text: 'Look at what the batch wrote; a dry run needs a script without its own COMMIT.',
  },
];
