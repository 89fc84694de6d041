import { connectionDefaults } from '../../../protocol/connection.ts';
import type { ConnectionProfile } from './profile.ts';

/** What a connection string says, what of it the profile cannot hold, and the password, which goes to secret storage. */
export interface ImportedConnection {
  readonly profile: ConnectionProfile;
  readonly password: string | null;
  /** Sentences about settings that were not carried over. */
  readonly notCarriedOver: readonly string[];
}

/** Names of ADO.NET and its synonyms, without blanks and in lower case. */
const synonyms: Readonly<Record<string, string>> = {
  server: 'server',
  datasource: 'server',
  addr: 'server',
  address: 'server',
  networkaddress: 'server',
  database: 'database',
  initialcatalog: 'database',
  userid: 'user',
  uid: 'user',
  user: 'user',
  username: 'user',
  password: 'password',
  pwd: 'password',
  encrypt: 'encrypt',
  trustservercertificate: 'trust',
  integratedsecurity: 'integrated',
  trusted_connection: 'integrated',
  authentication: 'authentication',
  connecttimeout: 'connectTimeout',
  connectiontimeout: 'connectTimeout',
  timeout: 'connectTimeout',
  commandtimeout: 'runTimeout',
  applicationintent: 'intent',
};

/** Settings of the client library that change nothing here. */
const harmless = new Set([
  'applicationname',
  'app',
  'persistsecurityinfo',
  'pooling',
  'minpoolsize',
  'maxpoolsize',
  'multipleactiveresultsets',
  'mars',
  'workstationid',
  'wsid',
  'packetsize',
  'commandtype',
]);

/**
 * Reads an ADO.NET connection string of SQL Server. Returns a sentence where it cannot be used: without a server, with
 * integrated Windows login, or when the text is no connection string.
 */
export function importConnectionString(text: string, name: string): ImportedConnection | string {
  const pairs = readPairs(text);
  if (pairs === undefined) return 'This is no connection string: it should look like "Server=…;Database=…;User ID=…".';
  const values = new Map<string, string>();
  const notCarriedOver: string[] = [];
  for (const [key, value] of pairs) {
    const plain = key.replace(/\s/g, '').toLowerCase();
    const known = synonyms[plain];
    if (known !== undefined) values.set(known, value);
    else if (!harmless.has(plain)) notCarriedOver.push(`"${key}" has no counterpart in a profile.`);
  }
  if (isYes(values.get('integrated')) || /integrated/i.test(values.get('authentication') ?? '')) {
    return 'Integrated Windows login is not supported. Use a SQL login, a Windows login with user and password (NTLM), or Entra.';
  }
  const place = readServer(values.get('server') ?? '');
  if (place === undefined) return 'The connection string names no server.';
  const { auth, remark } = readAuthentication(values.get('authentication') ?? '');
  if (remark !== null) notCarriedOver.push(remark);
  const server = place.server.toLowerCase();
  const profile: ConnectionProfile = {
    ...connectionDefaults,
    origin: 'user',
    name,
    platform: platformOf(server),
    server: place.server,
    port: place.port,
    database: values.get('database') || null,
    auth,
    user: values.get('user') || null,
    encrypt: readEncrypt(values.get('encrypt')),
    trustServerCertificate: isYes(values.get('trust')),
    isReadOnly: values.get('intent')?.toLowerCase() === 'readonly',
    connectTimeoutSeconds: readSeconds(values.get('connectTimeout')) || connectionDefaults.connectTimeoutSeconds,
    runTimeoutSeconds: readSeconds(values.get('runTimeout')),
  };
  return { profile, password: values.get('password') || null, notCarriedOver };
}

/** Key and value pairs in order; values may be quoted, `==` in a key stands for `=`. */
function readPairs(text: string): [string, string][] | undefined {
  const pairs: [string, string][] = [];
  let rest = text.trim();
  while (rest !== '') {
    const pair = /^\s*((?:[^=;]|==)+?)\s*=(?!=)\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^;]*)\s*(?:;|$)/.exec(rest);
    const [whole, key, value] = pair ?? [];
    if (whole === undefined || key === undefined || value === undefined) {
      if (/^[\s;]*$/.test(rest)) break;
      return undefined;
    }
    pairs.push([key.replaceAll('==', '='), unquoted(value)]);
    rest = rest.slice(whole.length).replace(/^[\s;]+/, '');
  }
  return pairs.length === 0 ? undefined : pairs;
}

function unquoted(value: string): string {
  const quote = value[0];
  if ((quote === '"' || quote === "'") && value.endsWith(quote) && value.length > 1) {
    return value.slice(1, -1).replaceAll(quote + quote, quote);
  }
  return value.trim();
}

/** `tcp:host\instance,1433`. */
function readServer(text: string): { readonly server: string; readonly port: number | null } | undefined {
  const found = /^(?:tcp:)?([^,]+)(?:,\s*(\d+))?$/i.exec(text.trim());
  const server = found?.[1]?.trim();
  if (server === undefined || server === '') return undefined;
  return { server: /^(\.|\(local\))$/i.test(server) ? 'localhost' : server, port: Number(found?.[2] ?? 0) || null };
}

function readAuthentication(text: string): {
  readonly auth: ConnectionProfile['auth'];
  readonly remark: string | null;
} {
  const plain = text.replace(/[\s_]/g, '').toLowerCase();
  if (plain === '' || plain === 'sqlpassword' || plain === 'notspecified') return { auth: 'sql', remark: null };
  if (plain.startsWith('activedirectory')) {
    const remark =
      plain === 'activedirectoryinteractive' || plain === 'activedirectorydefault'
        ? null
        : `Authentication "${text}" became a sign-in through the editor's own accounts.`;
    return { auth: 'entra', remark };
  }
  return { auth: 'sql', remark: `Authentication "${text}" is not known; the profile uses a SQL login.` };
}

function readEncrypt(text: string | undefined): ConnectionProfile['encrypt'] {
  const plain = text?.toLowerCase();
  if (plain === 'strict') return 'strict';
  return plain === 'false' || plain === 'no' || plain === 'optional' ? 'false' : 'true';
}

function readSeconds(text: string | undefined): number {
  return /^\d+$/.test(text ?? '') ? Number(text) : 0;
}

function isYes(text: string | undefined): boolean {
  return /^(true|yes|sspi)$/i.test(text ?? '');
}

function platformOf(server: string): ConnectionProfile['platform'] {
  if (/\.sql\.azuresynapse\./.test(server)) return 'synapse';
  if (/\.fabric\.microsoft\.com$/.test(server)) return 'fabric';
  return /\.database\.windows\.net$/.test(server) ? 'azuresql' : 'sqlserver';
}
