import { describe, expect, test } from 'vitest';
import { embeddedProfile, readProfiles, secretKey, settingOf } from '../../client/src/connections/profile.ts';

const prod = {
  name: 'Warehouse',
  platform: 'sqlserver',
  server: 'dwh01',
  user: 'loader',
  environment: 'prod',
  protected: true,
  readOnly: true,
};

describe('profiles of the settings', () => {
  test('fills in what an entry leaves out', () => {
    const { profiles, problems } = readProfiles(
      [{ name: 'A', platform: 'azuresql', server: 'a.database.windows.net' }],
      undefined,
    );
    expect(problems).toEqual([]);
    expect(profiles[0]).toMatchObject({
      origin: 'user',
      auth: 'sql',
      encrypt: 'true',
      environment: 'dev',
      isProtected: false,
      retries: 0,
    });
  });

  test('a workspace profile cannot weaken the user profile of its name', () => {
    const { profiles } = readProfiles(
      [prod],
      [{ ...prod, name: 'WAREHOUSE', environment: 'dev', protected: false, readOnly: false }],
    );
    expect(profiles).toHaveLength(1);
    expect(profiles[0]).toMatchObject({
      origin: 'workspace',
      isProtected: true,
      isReadOnly: true,
      environment: 'prod',
    });
  });

  test('a workspace profile can make the user profile of its name stricter', () => {
    const open = { name: 'Warehouse', platform: 'sqlserver', server: 'dwh01' };
    expect(readProfiles([open], [{ ...open, protected: true }]).profiles[0]?.isProtected).toBe(true);
  });

  test.each([
    ['no list', { name: 'A' }, 'must be a list'],
    ['no name', [{ platform: 'duckdb', file: 'x' }], 'no "name"'],
    ['unknown platform', [{ name: 'A', platform: 'oracle' }], 'needs a "platform"'],
    ['no server', [{ name: 'A', platform: 'synapse' }], 'needs a "server"'],
    ['no file', [{ name: 'A', platform: 'duckdb' }], 'needs the "file"'],
    ['a password', [{ name: 'A', platform: 'sqlserver', server: 's', password: 'canary' }], 'holds a password'],
    ['a name twice', [prod, prod], 'is taken'],
    ["the embedded engine's name", [{ ...prod, name: 'embedded ENGINE' }], 'is taken'],
  ])('names what is wrong: %s', (_, value, sentence) => {
    const { problems } = readProfiles(value, undefined);
    expect(problems.join()).toContain(sentence);
    expect(problems.join()).not.toContain('canary');
  });

  test('what is written to the settings reads back as the same profile', () => {
    const { profiles } = readProfiles(
      [{ ...prod, port: 1444, encrypt: 'strict', retries: 3, caFile: 'ca.pem' }],
      undefined,
    );
    const [profile] = profiles;
    if (profile === undefined) throw new Error('no profile');
    expect(readProfiles([settingOf(profile)], undefined).profiles).toEqual([profile]);
  });
});

describe('the place of a secret', () => {
  const [profile] = readProfiles([prod], undefined).profiles;
  if (profile === undefined) throw new Error('no profile');

  test.each([
    ['server', { server: 'evil' }],
    ['port', { port: 1444 }],
    ['user', { user: 'sa' }],
    ['encryption', { encrypt: 'false' as const }],
    ['trust in any certificate', { trustServerCertificate: true }],
    ['origin', { origin: 'workspace' as const }],
    ['name', { name: 'Other' }],
  ])('is another one when the profile changes its %s', (_, change) => {
    expect(secretKey({ ...profile, ...change })).not.toBe(secretKey(profile));
  });

  test('stays when only looks change', () => {
    expect(secretKey({ ...profile, database: 'Other', environment: 'test', retries: 2 })).toBe(secretKey(profile));
  });
});

test('the embedded engine is a DuckDB file without protection', () => {
  expect(embeddedProfile('x.duckdb')).toMatchObject({
    platform: 'duckdb',
    file: 'x.duckdb',
    environment: 'embedded',
    isProtected: false,
  });
});
