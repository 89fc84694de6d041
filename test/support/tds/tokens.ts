import type { ByteWriter } from './bytes.ts';
import { collation } from './types.ts';

/** Bits of a DONE token (MS-TDS 2.2.7.6). */
export const doneBit = { more: 0x01, error: 0x02, count: 0x10, attention: 0x20 } as const;

export const doneToken = { statement: 0xfd, procedure: 0xfe, inProcedure: 0xff } as const;

export interface Done {
  readonly token: number;
  /** Bits of `doneBit`. */
  readonly status: number;
  readonly count: number;
}

export function writeDone(out: ByteWriter, { token, status, count }: Done): void {
  out.u8(token).u16(status).u16(0).integer(BigInt(count), 8);
}

/** What ERROR and INFO say; `line` counts from 1 in the batch or, with `procedure`, in that procedure. */
export interface ServerMessage {
  readonly text: string;
  readonly number: number;
  readonly class: number;
  readonly state: number;
  readonly line: number;
  readonly procedure: string;
}

/** ERROR (class 11 and above) or INFO. */
export function writeMessage(out: ByteWriter, kind: 'error' | 'info', message: ServerMessage, server: string): void {
  out.u8(kind === 'error' ? 0xaa : 0xab).sized((body) => {
    body.u32(message.number).u8(message.state).u8(message.class);
    body.longText(message.text).shortText(server).shortText(message.procedure).u32(message.line);
  });
}

export function writeLoginAck(out: ByteWriter, tdsVersion: number, version: readonly number[]): void {
  out.u8(0xad).sized((body) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(tdsVersion);
    body.u8(1).bytes(bytes).shortText('Microsoft SQL Server').bytes(Uint8Array.from(version));
  });
}

/** FEATUREEXTACK for a login with a token: feature 2 without data. */
export function writeTokenAccepted(out: ByteWriter): void {
  out.u8(0xae).u8(0x02).u32(0).u8(0xff);
}

const change = { database: 1, language: 2, packetSize: 4, collation: 7, begin: 8, commit: 9, rollback: 10 } as const;

export function writeTextChange(
  out: ByteWriter,
  kind: 'database' | 'language' | 'packetSize',
  now: string,
  before: string,
): void {
  out.u8(0xe3).sized((body) => body.u8(change[kind]).shortText(now).shortText(before));
}

export function writeCollationChange(out: ByteWriter): void {
  out.u8(0xe3).sized((body) => body.u8(change.collation).u8(collation.length).bytes(collation).u8(0));
}

/** A transaction began or ended; its descriptor is the new value or the old one. */
export function writeTransactionChange(
  out: ByteWriter,
  kind: 'begin' | 'commit' | 'rollback',
  descriptor: Uint8Array,
): void {
  out.u8(0xe3).sized((body) => {
    body.u8(change[kind]);
    if (kind === 'begin') body.u8(descriptor.length).bytes(descriptor).u8(0);
    else body.u8(0).u8(descriptor.length).bytes(descriptor);
  });
}

export function writeReturnStatus(out: ByteWriter, status: number): void {
  out.u8(0x79).i32(status);
}
