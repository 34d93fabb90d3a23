import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  accountFromGrant,
  readLoggedInAccountFile,
  removeLoggedInAccountFile,
  storeLoggedInAccount,
} from '../../../src/auth/session/account.ts';
import { testHost } from '../../fixtures/host.ts';

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
    storeLoggedInAccount(config, 'work', account);
    expect(readLoggedInAccountFile(config, 'work')).toEqual(account);
    expect(statSync(join(config, 'accounts', 'work.json')).mode & 0o777).toBe(0o600);
    expect(readLoggedInAccountFile(config, 'other')).toBeUndefined();
  });

  it('of the implicit flow is nobody, with a scope nobody verified', () => {
    const { config } = testHost().folders;
    storeLoggedInAccount(config, 'work', accountFromGrant('sid-1', undefined, 'read', 'implicit'));
    expect(readLoggedInAccountFile(config, 'work')).toEqual({
      sid: 'sid-1',
      scope: 'read',
      scope_verified: false,
      flow: 'implicit',
    });
  });

  it('is gone after it was removed, once and again', () => {
    const { config } = testHost().folders;
    storeLoggedInAccount(config, 'work', accountFromGrant('sid-1', info, 'read', 'code'));
    removeLoggedInAccountFile(config, 'work');
    removeLoggedInAccountFile(config, 'work');
    expect(readLoggedInAccountFile(config, 'work')).toBeUndefined();
  });

  it('that cannot be read is nobody, and no error', () => {
    const { config } = testHost().folders;
    // As root every file can be read; a folder in its place cannot by anybody.
    mkdirSync(join(config, 'accounts', 'work.json'), { recursive: true });
    expect(readLoggedInAccountFile(config, 'work')).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"sid":7,"scope":"read"}', '{"sid":"x"}'])(
    'that is written down as %j is nobody',
    (text) => {
      const { config } = testHost().folders;
      mkdirSync(join(config, 'accounts'), { recursive: true });
      writeFileSync(join(config, 'accounts', 'work.json'), text);
      expect(readLoggedInAccountFile(config, 'work')).toBeUndefined();
    },
  );
});
