import { readFile } from 'node:fs/promises';
import { connect as openSocket, type Socket } from 'node:net';
import { Connection, type ConnectionConfiguration } from 'tedious';
import type { ConnectionSettings, Encryption } from '../../../protocol/connection.ts';
import { ConnectionError, UnreachableError } from '../session.ts';
import { refusal, refuseClearText, refuseOtherProtocols } from './mssql-prelogin.ts';

/** Milliseconds in which a cancel has to be acknowledged before the driver itself closes the connection. */
const cancelTimeout = 3000;
const defaultPort = 1433;

type Options = NonNullable<ConnectionConfiguration['options']>;

/**
 * Opens one connection, which never reconnects.
 *
 * @param watch is given the connection before it connects, so that it hears the login too
 * @throws ConnectionError in words that say what to do
 */
export async function connect(
  settings: ConnectionSettings,
  secret: string | null,
  signal: AbortSignal,
  watch: (connection: Connection) => void,
): Promise<Connection> {
  const connection = new Connection(await configuration(settings, secret, signal));
  watch(connection);
  // A login is refused by an error token, and only that has the server's number and words.
  let refused: string | undefined;
  const onRefused = ({ number, message }: { number: number; message: string }) => {
    refused = `${message} (error ${number})`;
  };
  connection.on('errorMessage', onRefused);
  // Errors besides the attempt's own have no other listener, and an error event without one ends the process.
  connection.on('error', () => undefined);
  let onAbort = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      onAbort = () => reject(new Error('cancelled'));
      signal.addEventListener('abort', onAbort, { once: true });
      connection.on('end', () => reject(new Error('the connection was closed')));
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    return connection;
  } catch (error) {
    connection.close();
    if (signal.aborted) throw new ConnectionError('Connecting was cancelled.');
    throw new UnreachableError(fault(settings, error, refused));
  } finally {
    signal.removeEventListener('abort', onAbort);
    connection.off('errorMessage', onRefused);
  }
}

async function configuration(
  settings: ConnectionSettings,
  secret: string | null,
  signal: AbortSignal,
): Promise<ConnectionConfiguration> {
  const [host = '', instance] = (settings.server ?? '').split('\\');
  if (host === '') throw new ConnectionError(`"${settings.name}" names no server; add one to the profile.`);
  const isStrict = settings.encrypt === 'strict';
  const options: Options = {
    ...(instance === undefined ? { port: settings.port ?? defaultPort } : instanceOptions(instance, settings.port)),
    ...(settings.database === null ? {} : { database: settings.database }),
    encrypt: isStrict ? 'strict' : settings.encrypt === 'true',
    trustServerCertificate: settings.trustServerCertificate,
    appName: 'Mergewright',
    connectTimeout: settings.connectTimeoutSeconds * 1000,
    cancelTimeout,
    // The driver's limit stops at the first packet of an answer; runs have a limit of their own.
    requestTimeout: 0,
    readOnlyIntent: settings.isReadOnly,
    // A database that is being resumed is worth another try, a wrong name on a server of one's own is not.
    maxRetriesOnTransientErrors: settings.platform === 'sqlserver' ? 0 : 3,
    useColumnNames: false,
    useUTC: true,
    lowerCaseGuids: true,
    cryptoCredentialsDetails: settings.caFile === null ? {} : { ca: await certificate(settings.caFile) },
  };
  options.connector = (target?: Target) => socketTo(target, settings.encrypt, signal);
  return { server: host, authentication: authentication(settings, secret), options };
}

function instanceOptions(instance: string, port: number | null): Options {
  return port === null ? { instanceName: instance } : { port };
}

function authentication(
  settings: ConnectionSettings,
  secret: string | null,
): NonNullable<ConnectionConfiguration['authentication']> {
  const { user, domain, name } = settings;
  if (settings.auth === 'entra') {
    if (secret === null) throw new ConnectionError(`"${name}" needs an access token; sign in first.`);
    return { type: 'azure-active-directory-access-token', options: { token: secret } };
  }
  if (user === null || user === '')
    throw new ConnectionError(
      `"${name}" names no user. Use a SQL login, a Windows login with user and password, or Entra; the login of the running Windows session can't be used.`,
    );
  if (settings.auth === 'ntlm')
    return { type: 'ntlm', options: { userName: user, password: secret ?? '', domain: domain ?? '' } };
  return { type: 'default', options: { userName: user, password: secret ?? '' } };
}

async function certificate(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new ConnectionError(`The certificate file ${file} can't be read; check "caFile" of the connection.`);
  });
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** The driver calls its connector with host and port, which a redirected login changes. */
async function socketTo(target: Target | undefined, encrypt: Encryption, signal: AbortSignal): Promise<Socket> {
  if (target === undefined) throw new ConnectionError('The driver named no host to connect to.');
  const socket = openSocket({ host: target.host, port: target.port, signal });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  if (encrypt === 'true') refuseClearText(socket);
  if (encrypt === 'false') refuseOtherProtocols(socket);
  return socket;
}

/** What went wrong while connecting, and what to do; the server's own words where it gave any. */
function fault(settings: ConnectionSettings, error: unknown, refused: string | undefined): string {
  const text = messageOf(error);
  const code = codeOf(error);
  const place = `${settings.server}${settings.port === null ? '' : `:${settings.port}`}`;
  if (text.includes(refusal))
    return `${place} answers that it does not encrypt, so no login was sent. Set "encrypt" to false only if the network is trusted.`;
  if (code === 'EENCRYPT') return `${place} insists on encryption; set "encrypt" to true.`;
  if (/certificate|self.signed|CERT_|altname/i.test(text))
    return `The certificate of ${place} is not trusted (${text}). Name its authority's file in "caFile"; only for a test server, set "trustServerCertificate".`;
  if (refused !== undefined) return `${place} refused the login: ${refused}`;
  if (code === 'ETIMEOUT')
    return `${place} did not answer within ${settings.connectTimeoutSeconds} s. Check server, port and firewall.`;
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return `There is no server ${settings.server}. Check its name.`;
  if (/ECONNREFUSED/.test(text)) return `Nothing listens at ${place}. Check server and port.`;
  if (code === 'EINSTLOOKUP') return `${place} is no known instance (${text}). Name the port instead.`;
  return `The connection to ${place} failed: ${text}`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
