import { describe, expect, it } from 'vitest';
import { readLoggedInAccountFile, storeLoggedInAccount } from '../../../src/auth/session/account.ts';
import { runCloudctl } from '../../commands/run-cloudctl.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { sandboxFor, TOMAS, userOf } from '../../sandbox/requests.ts';

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
    const renewed = sandbox.world.pair(sandbox.world.pair(grant.access_token)?.successor ?? '');
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
    storeLoggedInAccount(host.folders.config, 'default', {
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
    expect(readLoggedInAccountFile(host.folders.config, 'default')).toMatchObject({
      name: 'Tomás Okafor',
      team_name: 'Harbour Works',
      scope: 'read',
    });
  });
});
