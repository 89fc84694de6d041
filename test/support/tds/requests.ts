import { ByteReader } from './bytes.ts';
import { type Message, ProtocolError, packetType } from './packets.ts';
import type { Value } from './scalars.ts';
import { readWireType } from './types.ts';

/** What a client asks a session that is logged in. */
export type Request =
  | { readonly kind: 'batch'; readonly sql: string }
  | {
      readonly kind: 'rpc';
      /** `sp_executesql` and its like, or the procedure that is called. */
      readonly procedure: string;
      /** The statement of sp_executesql, sp_prepare and sp_prepexec; empty for other procedures. */
      readonly sql: string;
      /** Parameters by name without `@`; those of sp_executesql are the statement's own. */
      readonly parameters: Readonly<Record<string, Value>>;
    }
  | { readonly kind: 'transaction'; readonly operation: 'begin' | 'commit' | 'rollback' | 'save'; readonly sql: '' };

/** Procedures that are called by number (MS-TDS 2.2.6.6). */
const procedures: Readonly<Record<number, string>> = {
  10: 'sp_executesql',
  11: 'sp_prepare',
  12: 'sp_execute',
  13: 'sp_prepexec',
  15: 'sp_unprepare',
};
const statementParameter: Readonly<Record<string, number>> = { sp_executesql: 0, sp_prepare: 2, sp_prepexec: 2 };
const operations = { 5: 'begin', 7: 'commit', 8: 'rollback', 9: 'save' } as const;

/** Throws a ProtocolError for a message that a session does not take. */
export function readRequest({ type, payload }: Message): Request {
  const bytes = new ByteReader(payload);
  const headerSize = bytes.u32();
  bytes.bytes(headerSize - 4);
  switch (type) {
    case packetType.batch:
      return { kind: 'batch', sql: bytes.ucs2(bytes.rest / 2) };
    case packetType.rpc:
      return readCall(bytes);
    case packetType.transaction: {
      const code = String(bytes.u16());
      const operation = Object.entries(operations).find(([known]) => known === code);
      if (operation === undefined) throw new ProtocolError('transaction request of an unknown kind');
      return { kind: 'transaction', operation: operation[1], sql: '' };
    }
    default:
      throw new ProtocolError(`a message of type ${type} is not expected here`);
  }
}

function readCall(bytes: ByteReader): Request {
  const nameLength = bytes.u16();
  const procedure = nameLength === 0xffff ? (procedures[bytes.u16()] ?? 'unknown') : bytes.ucs2(nameLength);
  bytes.u16();
  const all: { name: string; value: Value }[] = [];
  while (bytes.rest > 0) {
    const name = bytes.shortText().replace(/^@/, '');
    bytes.u8();
    all.push({ name, value: readWireType(bytes).readValue(bytes) });
  }
  const at = statementParameter[procedure.toLowerCase()];
  const own = at === 0 ? all.slice(2) : all;
  return {
    kind: 'rpc',
    procedure,
    sql: at === undefined ? '' : String(all[at]?.value ?? ''),
    parameters: Object.fromEntries(own.map(({ name, value }, index) => [name === '' ? String(index) : name, value])),
  };
}
