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

/** Messages of a server: answers, and PRELOGIN packets that wrap a TLS handshake (MS-TDS 2.2.3.1.1). */
const serverPackets = new Set([0x04, 0x12]);

/**
 * Destroys the socket at the first packet that no server sends. The driver would wait for as many bytes as such a packet
 * seems to have. Only for a socket that is not encrypted.
 */
export function refuseOtherProtocols(socket: Socket): void {
  let header = Buffer.alloc(0);
  let left = 0;
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - at);
        left -= taken;
        at += taken;
        continue;
      }
      const missing = headerLength - header.length;
      header = Buffer.concat([header, chunk.subarray(at, at + missing)]);
      at += missing;
      if (header.length > 0 && !serverPackets.has(header[0] ?? 0)) {
        socket.destroy(new Error('the server sent something that is no TDS'));
        return;
      }
      if (header.length < headerLength) return;
      left = header.readUInt16BE(2) - headerLength;
      header = Buffer.alloc(0);
    }
  });
}
