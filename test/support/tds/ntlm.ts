import { ByteWriter } from './bytes.ts';

/** Who signs in with a Windows login. The password is not checked: that would need MD4, which Node no longer has. */
export interface WindowsLogin {
  readonly domain: string;
  readonly user: string;
}

const signature = Buffer.from('NTLMSSP\0');
const challengeFlags = 0x8201;

/** The server's challenge (MS-NLMP 2.2.1.2) as an SSPI token (0xED); its target information is empty. */
export function ntlmChallenge(domain: string): Buffer {
  const name = Buffer.from(domain, 'utf16le');
  const target = Buffer.alloc(4);
  const head = 56;
  const challenge = new ByteWriter()
    .bytes(signature)
    .u32(2)
    .u16(name.length)
    .u16(name.length)
    .u32(head)
    .u32(challengeFlags)
    .bytes(Buffer.from('01234567'))
    .bytes(Buffer.alloc(8))
    .u16(target.length)
    .u16(target.length)
    .u32(head + name.length)
    .bytes(Buffer.alloc(8))
    .bytes(name)
    .bytes(target);
  return new ByteWriter().u8(0xed).u16(challenge.length).bytes(challenge.take()).take();
}

/** The client's answer to the challenge (MS-NLMP 2.2.1.3). */
export function readNtlmAnswer(payload: Buffer): WindowsLogin {
  const text = (at: number) => {
    const start = payload.readUInt32LE(at + 4);
    return payload.toString('utf16le', start, start + payload.readUInt16LE(at));
  };
  return { domain: text(28), user: text(36) };
}
