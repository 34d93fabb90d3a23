import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountFromGrant, readAccount, removeAccountFile, storeAccount } from '../../../src/auth/session/account.ts';
import { runCloudctl } from '../../commands/run-cloudctl.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { sandboxFor, TOMAS, userOf } from '../../sandbox/requests.ts';

const info = { name: 'Maya', email: 'maya@example.com', uuid: 'a1b2c3d4-x', teamName: 'Ops', teamUuid: 't-1' };

describe('who is logged in', () => {
  it('is kept for display beside the config, with the first six characters of the account', () => {
    const { config } = testHost().folders;
    const account = accountFromGrant('sid-1', info, 'read', 'code');
    expect(account).toEqual({
      sid: 'sid-1',
      name: 'Maya',
      email: 'maya@example.com',
      team_name: 'Ops',
      team_uuid: 't-1',
      hint: 'a1b2c3',
      scope: 'read',
      scope_verified: true,
      flow: 'code',
    });
    storeAccount(config, 'work', account);
    expect(readAccount(config, 'work')).toEqual(account);
    expect(statSync(join(config, 'accounts', 'work.json')).mode & 0o777).toBe(0o600);
    expect(readAccount(config, 'other')).toBeUndefined();
  });

  it('of the implicit flow is nobody, with a scope nobody verified', () => {
    const { config } = testHost().folders;
    storeAccount(config, 'work', accountFromGrant('sid-1', undefined, 'read', 'implicit'));
    expect(readAccount(config, 'work')).toEqual({
      sid: 'sid-1',
      scope: 'read',
      scope_verified: false,
      flow: 'implicit',
    });
  });

  it('is gone after it was removed, once and again', () => {
    const { config } = testHost().folders;
    storeAccount(config, 'work', accountFromGrant('sid-1', info, 'read', 'code'));
    removeAccountFile(config, 'work');
    removeAccountFile(config, 'work');
    expect(readAccount(config, 'work')).toBeUndefined();
  });

  it('that cannot be read is nobody, and no error', () => {
    const { config } = testHost().folders;
    // As root every file can be read; a folder in its place cannot by anybody.
    mkdirSync(join(config, 'accounts', 'work.json'), { recursive: true });
    expect(readAccount(config, 'work')).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"sid":7,"scope":"read"}', '{"sid":"x"}'])(
    'that is written down as %j is nobody',
    (text) => {
      const { config } = testHost().folders;
      mkdirSync(join(config, 'accounts'), { recursive: true });
      writeFileSync(join(config, 'accounts', 'work.json'), text);
      expect(readAccount(config, 'work')).toBeUndefined();
    },
  );
});

describe('a refresh that answers for another context', () => {
  it('is exit 4 with both named; that grant is revoked, and the next command says the same', async () => {
    const sandbox = await sandboxFor();
    const host = testHost();
    const { grant, stored } = await seedSession(host, sandbox, {
      context: 'team',
      record: { accountUuid: userOf(sandbox, TOMAS).uuid, team: 'personal', expiresAt: 1 },
    });
    const ran = await runCloudctl(host, ['droplets', 'list']);
    expect(ran.code).toBe(4);
    const renewed = sandbox.world.grants.pair(sandbox.world.grants.pair(grant.access_token)?.successor ?? '');
    expect(stored()).toMatchObject({ otherGrant: { isRevoked: true }, team: 'personal' });
    expect(stored()?.refreshToken).toBeUndefined();
    expect(renewed?.end).toBe('revoked');
    const again = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(again.error()).toMatchObject({ code: 'needs_login', exit_code: 4 });
    expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(4);
    expect((await runCloudctl(host, ['auth', 'status', '-o', 'json'])).json()).toMatchObject({ state: 'needs_login' });
    const tomas = userOf(sandbox, TOMAS);
    const text = ran.err.replaceAll(tomas.uuid, 'ACCOUNT').replaceAll(tomas.teams[0]?.uuid ?? '?', 'TEAM');
    expectGolden('auth', text.replace(/hint [0-9a-f]{6}/, 'hint 6HEX'));
  });

  it('stores name, team and scope of an answer for the same account, and warns about a narrower scope', async () => {
    const sandbox = await sandboxFor();
    const host = testHost();
    const { stored, record } = await seedSession(host, sandbox, {
      context: 'team',
      scope: 'read',
      record: { expiresAt: 1, scope: 'read write' },
    });
    const tomas = userOf(sandbox, TOMAS);
    storeAccount(host.folders.config, 'default', {
      sid: record.sid,
      name: 'Old Name',
      scope: 'read write',
      scope_verified: true,
      flow: 'code',
    });
    const ran = await runCloudctl(host, ['droplets', 'list']);
    expect(ran.code).toBe(0);
    expectGolden('auth', ran.err);
    expect(stored()).toMatchObject({ accountUuid: tomas.uuid, team: tomas.teams[0]?.uuid, scope: 'read' });
    expect(readAccount(host.folders.config, 'default')).toMatchObject({
      name: 'Tomás Okafor',
      team_name: 'Harbour Works',
      scope: 'read',
    });
  });
});
