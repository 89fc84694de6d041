/**
 * Whether a batch may have committed when its end was not read. The answer errs on the side of "may": only texts that
 * plainly cannot commit are said not to.
 *
 * @param inTransaction a transaction was open when the batch was sent
 */
export function mayCommit(text: string, inTransaction: boolean): boolean {
  const words = codeOf(text);
  if (callsProcedure(words)) return true;
  return inTransaction ? /\bcommit\b/i.test(words) : writes.test(words);
}

/** True for a batch that begins its transaction and commits it, so that trying it again repeats all of it. */
export function holdsWholeTransaction(text: string): boolean {
  const words = codeOf(text);
  const begins = words.match(/\bbegin\s+tran(saction)?\b/gi)?.length ?? 0;
  const commits = words.match(/\bcommit\b/gi)?.length ?? 0;
  return begins === 1 && commits === 1 && !callsProcedure(words);
}

const writes =
  /\b(insert|update|delete|merge|truncate|create|alter|drop|into|grant|revoke|deny|rename|copy|restore|backup|bulk|dbcc|kill|commit|attach|detach|updatetext|writetext|reconfigure|shutdown)\b/i;

/** EXEC, or a name at the start of the batch, which calls a procedure. */
function callsProcedure(words: string): boolean {
  if (/\b(exec|execute|call)\b/i.test(words)) return true;
  const [first] = /^[\s;]*([^\s;(]+)/.exec(words)?.slice(1) ?? [];
  return first !== undefined && !/^[a-z]+$/i.test(first)
    ? true
    : first !== undefined && !openings.has(first.toLowerCase());
}

/** Words with which a statement begins; anything else at the start of a batch is a procedure's name. */
const openings = new Set(
  (
    'add alter attach backup begin break bulk checkpoint close commit continue create cursor dbcc deallocate declare delete ' +
    'deny detach disable drop enable end explain fetch from go goto grant if insert install kill load merge move open pivot ' +
    'pragma print raiserror read receive reconfigure rename restore return revert revoke rollback save select send set ' +
    'show shutdown summarize throw truncate update use vacuum values waitfor while with'
  ).split(' '),
);

/** The text without comments, string values and quoted names. */
function codeOf(text: string): string {
  return text.replace(
    /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\[(?:[^\]]|\]\])*(?:\]|$)/g,
    (match) => (/^['"[]/.test(match) ? ' x_ ' : ' '),
  );
}
