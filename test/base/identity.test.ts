import { describe, expect, it } from 'vitest';
import { compareAccounts, compareIdentities, describeIdentity, describeTeam } from '../../src/base/identity.ts';
import { expectGolden } from '../fixtures/golden.ts';

const team = '0f0e0d0c-0b0a-4908-8706-050403020100';
const maya = { accountUuid: '1b4e28ba-2fa1-41d2-883f-0016d3cca427', team: 'personal' };

describe('accounts', () => {
  it.each([
    ['same', maya, { ...maya, accountUuid: maya.accountUuid.toUpperCase() }],
    ['different', maya, { ...maya, team }],
    ['different', maya, { accountUuid: team, team: 'personal' }],
    ['different', { team: 'personal' }, { team }],
    ['unknown', maya, { accountUuid: maya.accountUuid }],
    ['unknown', maya, {}],
    ['unknown', {}, {}],
  ] as const)('are %s: %j and %j', (expected, one, other) => {
    expect(compareAccounts(one, other)).toBe(expected);
    expect(compareAccounts(other, one)).toBe(expected);
  });
});

describe('identities', () => {
  const known = { ...maya, authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: 'c' };

  it.each([
    ['same', {}],
    ['same', { clientId: 'registered-again' }],
    // CLOUDCTL_ACCESS_TOKEN
    ['same', { authOrigin: undefined, clientId: undefined }],
    ['different', { baseOrigin: 'https://c.example' }],
    ['different', { authOrigin: 'https://c.example' }],
    ['different', { team }],
    ['unknown', { team: undefined }],
    ['unknown', { accountUuid: undefined, team: undefined }],
  ] as const)('are %s with %j', (expected, change) => {
    expect(compareIdentities(known, { ...known, ...change })).toBe(expected);
  });

  it('are described with what is known of them', () => {
    const lines = [
      describeIdentity(known),
      describeIdentity({ accountUuid: 'u', team }),
      describeIdentity({}),
      describeTeam(team),
    ];
    expectGolden('auth', lines.join('\n'));
  });
});
