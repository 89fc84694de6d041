import type { Socket } from 'node:net';

/** Answers of PRELOGIN's ENCRYPTION option with which a login is encrypted: ENCRYPT_ON and ENCRYPT_REQ (MS-TDS 2.2.6.5). */
const encrypting = new Set([1, 3]);
const headerLength = 8;
const encryptionOption = 1;
const terminator = 0xff;
/** No PRELOGIN answer is longer than a packet of the time before the size is agreed. */
const longest = 4096;

/**
 * Destroys the socket before a login is sent when the server, or someone between, answers that encryption is not
 * supported: the driver would go on and send the password in clear. It must be called before the driver reads.
 */
export function refuseClearText(socket: Socket): void {
  let received = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const length = received.length < headerLength ? Number.POSITIVE_INFINITY : received.readUInt16BE(2);
    if (received.length < length && received.length < longest) return;
    socket.off('data', read);
    const answer = encryptionAnswer(received.subarray(headerLength));
    if (answer === undefined || !encrypting.has(answer)) socket.destroy(new Error(refusal));
  };
  socket.on('data', read);
}

/** Part of the message by which the refusal is known again. */
export const refusal = 'the server does not encrypt';

function encryptionAnswer(payload: Buffer): number | undefined {
  for (let at = 0; at + 5 <= payload.length && payload[at] !== terminator; at += 5) {
    if (payload[at] === encryptionOption) return payload[payload.readUInt16BE(at + 1)];
  }
  return undefined;
}
