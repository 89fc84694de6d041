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

/**
 * True for a batch that begins its transaction and commits it, with no write before or behind it but to temporary tables, so
 * that trying it again repeats all of it and nothing else.
 */
export function holdsWholeTransaction(text: string): boolean {
  const words = codeOf(text).replace(lockCalls, ' ');
  const begins = [...words.matchAll(/\bbegin\s+tran(saction)?\b/gi)];
  const commits = [...words.matchAll(/\bcommit\b/gi)];
  const [begin] = begins;
  const [commit] = commits;
  if (begin === undefined || commit === undefined || begins.length > 1 || commits.length > 1) return false;
  const outside = `${words.slice(0, begin.index)} ; ${words.slice(commit.index + commit[0].length)}`;
  return !callsProcedure(words) && !writes.test(outside.replace(temporaryWrites, ' '));
}

/** True for a batch with several statements that write: outside a transaction, those before an error stay. */
export function writesSeveralTimes(text: string): boolean {
  const words = codeOf(text)
    .replace(temporaryWrites, ' ')
    .replace(/\bthen\s+(insert|update|delete)\b/gi, ' ');
  return (words.match(/\b(insert|update|delete|merge|truncate|create|alter|drop|exec|execute)\b/gi)?.length ?? 0) > 1;
}

/**
 * The line of a batch whose call led to an error inside a procedure: the call of that procedure, else the only call there is;
 * zero-based, null where neither is to be found.
 */
export function lineOfCall(batch: string, procedure: string): number | null {
  // Comments and values become blanks, so that places stay.
  const code = batch.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)/g, (text) =>
    text.replace(/[^\n]/g, ' '),
  );
  const called = [...code.matchAll(calls)].flatMap((match) => {
    const [whole, name = ''] = match;
    const line = code.slice(0, match.index + whole.search(/\S/)).split('\n').length - 1;
    return whole.trim() === name && openings.has(name.toLowerCase()) ? [] : [{ name: lastName(name), line }];
  });
  const wanted = lastName(procedure);
  const [only, ...more] = called;
  const found = called.find(({ name }) => name === wanted) ?? (more.length === 0 ? only : undefined);
  return found?.line ?? null;
}

/** EXEC with what may stand before the name; the name alone may begin a batch. */
const calls =
  /(?:\bexec(?:ute)?\s+(?:@\w+\s*=\s*)?|^\s*(?=[\w[".]+(?:\s|;|$)))((?:\[(?:[^\]]|\]\])*\]|"[^"]*"|[\w#$]+)?(?:\s*\.\s*(?:\[(?:[^\]]|\]\])*\]|"[^"]*"|[\w#$]+)?)*)/gi;

function lastName(name: string): string {
  const last = /(\[(?:[^\]]|\]\])*\]|"[^"]*"|[^.\s]+)\s*$/.exec(name)?.[1] ?? '';
  return last
    .replace(/^[["]|["\]]$/g, '')
    .replaceAll(']]', ']')
    .toLowerCase();
}

/** Locks that go with the transaction, as generated loads take them. */
const lockCalls = /\bexec(?:ute)?\s+(?:@\w+\s*=\s*)?(?:sys\s*\.\s*)?sp_(?:get|release)applock\b/gi;

const temporaryWrites =
  /\b(insert\s+into|insert|into|create\s+table|drop\s+table(\s+if\s+exists)?|update|delete\s+from|delete|truncate\s+table|merge\s+into|merge)\s+[#@]\w+/gi;

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
