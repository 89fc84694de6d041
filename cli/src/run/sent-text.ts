/** What a person is told before anything is sent: a short text as a whole, of a long one what is not the file as it stands. */

/** Lines of a text that a terminal still shows together with the counts behind it. */
const shortText = 24;

/** Changed lines that are shown; a generated load has about as many parameters. */
const shownChanges = 12;

/** A text that is sent, and the script that it comes from. */
export interface Sent {
  /** All batches of it. */
  readonly text: string;
  /** The script's name as it was given, and its text as it was read. */
  readonly script: string;
  readonly read: string;
  /** Show it all, however long it is. */
  readonly isWhole: boolean;
}

/** The script that a run sends; with parameters, SQLCMD or another platform it is not the file byte by byte. */
export function runText(sent: Sent): string {
  const lines = linesOf(sent.text);
  if (sent.isWhole || lines.length <= shortText) return sent.text.trimEnd();
  const size = `${lines.length} lines`;
  const read = linesOf(sent.read);
  if (read.length !== lines.length) return `Sends what ${sent.script} is made into, ${size}; --sql shows them.`;
  const changed = lines.flatMap((line, index) => (line === read[index] ? [] : [`  ${index + 1}: ${line}`]));
  if (changed.length === 0) return `Sends ${sent.script} as it stands, ${size}; --sql shows them.`;
  if (changed.length > shownChanges) return `Sends what ${sent.script} is made into, ${size}; --sql shows them.`;
  return [`Sends ${sent.script}, ${size}, --sql shows them; changed are`, ...changed].join('\n');
}

/** The queries that a preview sends in place of the script. */
export function previewText(sent: Sent): string {
  const lines = linesOf(sent.text);
  if (sent.isWhole || lines.length <= shortText) return sent.text.trimEnd();
  return `Sends ${lines.length} lines that count what ${sent.script} would change, writing to temporary tables at most; --sql shows them.`;
}

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split(/\r?\n/);
}
