import { type Column, column, type Row } from './columns.ts';
import type { AttentionRule, Ending, Reply, Step } from './reply.ts';
import type { Request } from './requests.ts';
import type { SessionState } from './session-state.ts';
import type { ServerMessage } from './tokens.ts';

/** One step, several, or a generator that may wait between them. */
export type Answer = Step | Iterable<Step> | AsyncIterable<Step>;

/** Answers a request; undefined leaves it to the standard answers. */
export type Handler = (request: Request, session: SessionState) => Answer | undefined | Promise<Answer | undefined>;

/** What `error` and `info` take: defaults are class 16 (10 for info), state 1, line 1, no procedure. */
export type MessageParts = Partial<ServerMessage> & Pick<ServerMessage, 'number' | 'text'>;

/** A result set; `counted: false` leaves the count out, as SET NOCOUNT ON does. */
export function rows(
  columns: readonly string[],
  values: Iterable<Row>,
  { counted = true }: { readonly counted?: boolean } = {},
): Step {
  const parsed: readonly Column[] = columns.map(column);
  return (reply) => reply.rows(parsed, values, counted);
}

/** The end of a statement that changed `count` rows. */
export function affected(count: number): Step {
  return (reply) => reply.done(count);
}

/** The end of a statement without a count. */
export function done(): Step {
  return (reply) => reply.done();
}

/** PRINT: number 0, class 0. */
export function print(text: string, line = 1): Step {
  return (reply) => reply.message('info', { number: 0, class: 0, state: 1, line, procedure: '', text });
}

/** RAISERROR with a class up to 10. */
export function info(parts: MessageParts): Step {
  return (reply) => reply.message('info', { class: 10, state: 1, line: 1, procedure: '', ...parts });
}

/** An error; the statement's end that follows (or the end of the answer) says that it failed. */
export function error(parts: MessageParts): Step {
  return (reply) => reply.message('error', { class: 16, state: 1, line: 1, procedure: '', ...parts });
}

/** BEGIN TRANSACTION: the outermost one is told to the client. */
export function begin(): Step {
  return (reply) => {
    reply.begin();
    reply.done();
  };
}

/** COMMIT of one level. */
export function commit(): Step {
  return (reply) => {
    reply.commit();
    reply.done();
  };
}

/** ROLLBACK of all levels. */
export function rollback(): Step {
  return (reply) => {
    reply.rollback();
    reply.done();
  };
}

/** USE, with the message 5701. */
export function use(database: string): Step {
  return (reply) => {
    reply.useDatabase(database);
    reply.done();
  };
}

/** EXEC: counts of its statements come as DONEINPROC, then the return status and DONEPROC. */
export function procedure(steps: readonly Step[], status = 0): Step {
  return (reply) => reply.procedure(steps, status);
}

/** Sends what was answered so far, as RAISERROR … WITH NOWAIT does; ends the packet there. */
export function flush(): Step {
  return (reply) => reply.flush();
}

/** Sends what was answered so far and waits; an attention or a lost connection ends the wait. */
export function until(promise: Promise<unknown>): Step {
  return async (reply) => {
    reply.flush();
    await promise;
  };
}

/** Sends what was answered so far and then nothing more. */
export function stall(): Step {
  return until(new Promise(() => undefined));
}

/** Sends what was answered so far, then ends the connection (FIN) or resets it (RST). */
export function disconnect(ending: Ending): Step {
  return (reply) => reply.drop(ending);
}

/** Bytes that are no TDS. */
export function raw(bytes: Uint8Array): Step {
  return (reply) => reply.raw(bytes);
}

/** From here on, what an attention does; without it, the answer stops. */
export function onAttention(mode: AttentionRule['mode'], steps: readonly Step[] = []): Step {
  return (reply) => {
    reply.attentionRule = { mode, steps };
  };
}

/** An answer for the requests that it matches, at most `times` times. */
export interface Rule {
  /** A part of the SQL text (letter case does not count), an expression, or a test of the request. */
  readonly when: string | RegExp | ((request: Request) => boolean);
  readonly answer: readonly Step[] | Handler;
  readonly times: number;
}

/** Makes a rule; a function as `answer` (a generator function too) runs afresh for every request. */
export function on(when: Rule['when'], answer: Rule['answer'], times = Number.POSITIVE_INFINITY): Rule {
  return { when, answer, times };
}

/** The first rule that matches answers. */
export function script(...rules: readonly Rule[]): Handler {
  const used = new Map<Rule, number>();
  return (request, session) => {
    for (const rule of rules) {
      const count = used.get(rule) ?? 0;
      if (count >= rule.times || !matches(rule.when, request)) continue;
      used.set(rule, count + 1);
      return typeof rule.answer === 'function' ? rule.answer(request, session) : rule.answer;
    }
    return undefined;
  };
}

function matches(when: Rule['when'], request: Request): boolean {
  if (typeof when === 'function') return when(request);
  const text = request.kind === 'rpc' && request.sql === '' ? request.procedure : request.sql;
  return typeof when === 'string' ? text.toLowerCase().includes(when.toLowerCase()) : when.test(text);
}

/** Runs an answer until its end, or until the reply is over. */
export async function play(answer: Answer, reply: Reply): Promise<void> {
  for await (const step of typeof answer === 'function' ? [answer] : answer) {
    if (reply.over) return;
    await step(reply);
  }
}
