import { describe, expect, test } from 'vitest';
import { importConnectionString } from '../../client/src/connections/ado-net.ts';

function imported(text: string) {
  const found = importConnectionString(text, 'New');
  if (typeof found === 'string') throw new Error(found);
  return found;
}

describe('import of an ADO.NET connection string', () => {
  test('reads server, port, database, login and encryption', () => {
    const { profile, password, notCarriedOver } = imported(
      'Server=tcp:dwh01.corp.local,1444;Initial Catalog=PersistentStaging;User ID=loader;Password=p@ss;Encrypt=True;TrustServerCertificate=no;Connection Timeout=30',
    );
    expect(profile).toMatchObject({
      platform: 'sqlserver',
      server: 'dwh01.corp.local',
      port: 1444,
      database: 'PersistentStaging',
      user: 'loader',
      encrypt: 'true',
      trustServerCertificate: false,
      connectTimeoutSeconds: 30,
    });
    expect(password).toBe('p@ss');
    expect(notCarriedOver).toEqual([]);
    expect(JSON.stringify(profile)).not.toContain('p@ss');
  });

  test.each([
    [`Server=s;Password="a;b""c"`, 'a;b"c'],
    [`Server=s;Password='a;b''c'`, "a;b'c"],
    ['Server=s;Password=a=b;', 'a=b'],
    ['Server=s; Pwd = spaced ', 'spaced'],
  ])('reads the password of %s', (text, password) => {
    expect(imported(text).password).toBe(password);
  });

  test.each([
    ['Encrypt=Strict', 'strict'],
    ['Encrypt=Optional', 'false'],
    ['Encrypt=Mandatory', 'true'],
    ['', 'true'],
  ])('%s means encryption %s', (text, encrypt) => {
    expect(imported(`Server=s;${text}`).profile.encrypt).toBe(encrypt);
  });

  test('read-only intent becomes a read-only profile, an instance stays in the server', () => {
    expect(imported('Data Source=.\\SQLEXPRESS;ApplicationIntent=ReadOnly').profile).toMatchObject({
      server: '.\\SQLEXPRESS',
      isReadOnly: true,
    });
  });

  test.each([
    ['x.database.windows.net', 'azuresql'],
    ['x.sql.azuresynapse.net', 'synapse'],
    ['x.datawarehouse.fabric.microsoft.com', 'fabric'],
  ])('the server %s is %s', (server, platform) => {
    expect(imported(`Server=${server};Authentication=Active Directory Interactive`).profile).toMatchObject({
      platform,
      auth: 'entra',
    });
  });

  test('lists what a profile cannot hold, and keeps quiet about what changes nothing', () => {
    const { notCarriedOver } = imported('Server=s;Failover Partner=t;Application Name=SSIS;HostNameInCertificate=h');
    expect(notCarriedOver).toEqual([
      '"Failover Partner" has no counterpart in a profile.',
      '"HostNameInCertificate" has no counterpart in a profile.',
    ]);
  });

  test.each([
    ['Server=s;Integrated Security=SSPI', 'Integrated Windows login is not supported'],
    ['Server=s;Trusted_Connection=Yes', 'Integrated Windows login is not supported'],
    ['Database=x', 'names no server'],
    ['hello', 'no connection string'],
    ['', 'no connection string'],
  ])('refuses %s', (text, sentence) => {
    expect(importConnectionString(text, 'New')).toContain(sentence);
  });
});
