import { ByteReader, ByteWriter } from './bytes.ts';
import type { WindowsLogin } from './ntlm.ts';

/** Values of the ENCRYPTION option of PRELOGIN (MS-TDS 2.2.6.5). */
export const encryptionByte = { off: 0, on: 1, 'not-supported': 2, required: 3 } as const;

export interface PreloginRequest {
  /** One of `encryptionByte`. */
  readonly encryption: number;
  /** The client is going to sign in with a token. */
  readonly federated: boolean;
}

/** What LOGIN7 says. The password is in clear text: it is there to be compared. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly host: string;
  readonly app: string;
  readonly server: string;
  readonly library: string;
  readonly language: string;
  readonly readOnlyIntent: boolean;
  /** Packet size that the client asks for. */
  readonly packetSize: number;
  /** TDS version as its four bytes, most significant first: 0x74000004 is 7.4. */
  readonly tdsVersion: number;
  /** An Entra token; absent for a login with a password. */
  readonly token?: string;
  /** The client waits to be told where to get its token. */
  readonly asksForTokenSource: boolean;
  /** A Windows login begins: a challenge and its answer follow. */
  readonly asksForChallenge: boolean;
  /** Who answered the challenge of a Windows login. */
  readonly windows?: WindowsLogin;
}

const option = { version: 0, encryption: 1, federated: 6, end: 0xff };
const featureExtension = { federated: 0x02, end: 0xff };
const tokenLibrary = { securityToken: 1, entra: 2 };

export function readPrelogin(payload: Buffer): PreloginRequest {
  let encryption: number = encryptionByte['not-supported'];
  let federated = false;
  for (let at = 0; payload.readUInt8(at) !== option.end; at += 5) {
    const value = payload.readUInt16BE(at + 1);
    if (payload.readUInt16BE(at + 3) === 0) continue;
    if (payload.readUInt8(at) === option.encryption) encryption = payload.readUInt8(value);
    if (payload.readUInt8(at) === option.federated) federated = payload.readUInt8(value) === 1;
  }
  return { encryption, federated };
}

/** `version` is the server's: major, minor, and the build in two bytes. */
export function preloginAnswer(version: readonly number[], encryption: number, federated: boolean): Buffer {
  const options: readonly (readonly [number, Buffer])[] = [
    [option.version, Buffer.from([...version, 0, 0])],
    [option.encryption, Buffer.from([encryption])],
    ...(federated ? ([[option.federated, Buffer.from([1])]] as const) : []),
  ];
  const head = Buffer.alloc(options.length * 5 + 1, option.end);
  let at = head.length;
  options.forEach(([token, value], index) => {
    head.writeUInt8(token, index * 5);
    head.writeUInt16BE(at, index * 5 + 1);
    head.writeUInt16BE(value.length, index * 5 + 3);
    at += value.length;
  });
  return Buffer.concat([head, ...options.map(([, value]) => value)]);
}

/** Positions are those of MS-TDS 2.2.6.4. */
export function readLogin(payload: Buffer): Login {
  const part = (at: number) => {
    const start = payload.readUInt16LE(at);
    return payload.subarray(start, start + payload.readUInt16LE(at + 2) * 2);
  };
  const text = (at: number) => part(at).toString('utf16le');
  return {
    tdsVersion: payload.readUInt32LE(4),
    packetSize: payload.readUInt32LE(8),
    readOnlyIntent: (payload.readUInt8(26) & 0x20) !== 0,
    host: text(36),
    user: text(40),
    password: clearPassword(part(44)),
    app: text(48),
    server: text(52),
    library: text(60),
    language: text(64),
    database: text(68),
    asksForChallenge: (payload.readUInt8(25) & 0x80) !== 0,
    ...readFederated(payload),
  };
}

/** The token in the message that follows the server's FEDAUTHINFO. */
export function readFederatedToken(payload: Buffer): string {
  const bytes = new ByteReader(payload);
  bytes.u32();
  return bytes.bytes(bytes.u32()).toString('utf16le');
}

/** Each byte was rotated by four bits and then combined with 0xA5. */
function clearPassword(bytes: Buffer): string {
  const clear = Buffer.from(bytes);
  clear.forEach((byte, index) => {
    const plain = byte ^ 0xa5;
    clear[index] = ((plain & 0x0f) << 4) | (plain >> 4);
  });
  return clear.toString('utf16le');
}

function readFederated(payload: Buffer): Pick<Login, 'token' | 'asksForTokenSource'> {
  const none = { asksForTokenSource: false };
  const usesExtension = (payload.readUInt8(27) & 0x10) !== 0;
  if (!usesExtension) return none;
  const features = new ByteReader(payload.subarray(payload.readUInt32LE(payload.readUInt16LE(56))));
  for (let feature = features.u8(); feature !== featureExtension.end; feature = features.u8()) {
    const data = new ByteReader(features.bytes(features.u32()));
    if (feature !== featureExtension.federated) continue;
    const library = data.u8() >> 1;
    if (library === tokenLibrary.entra) return { asksForTokenSource: true };
    if (library === tokenLibrary.securityToken) {
      return { asksForTokenSource: false, token: data.bytes(data.u32()).toString('utf16le') };
    }
  }
  return none;
}

/** FEDAUTHINFO (token 0xEE): where the client gets its token, and for which service. */
export function tokenSource(url: string, service: string): Buffer {
  const entries = [
    { id: 1, data: Buffer.from(url, 'utf16le') },
    { id: 2, data: Buffer.from(service, 'utf16le') },
  ];
  const body = new ByteWriter().u32(entries.length);
  let at = 4 + entries.length * 9;
  for (const { id, data } of entries) {
    body.u8(id).u32(data.length).u32(at);
    at += data.length;
  }
  for (const { data } of entries) body.bytes(data);
  return new ByteWriter().u8(0xee).u32(body.length).bytes(body.take()).take();
}
