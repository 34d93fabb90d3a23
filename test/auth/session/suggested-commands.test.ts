import { expect, it } from 'vitest';
import {
  buildLoginRetryCommands,
  formatCommandForProfile,
  formatLoginFlowOption,
  formatScopeOption,
  formatScopeOptionUnlessDefault,
} from '../../../src/auth/session/suggested-commands.ts';
import { profileNamed } from '../../fixtures/profile.ts';

it.each([
  ['default', '`cloudctl auth setup`'],
  ['work', '`cloudctl auth setup --profile work`'],
])('a command for %s is %s', (profile, command) => {
  expect(formatCommandForProfile(profileNamed(profile), 'auth setup')).toBe(command);
});

it.each([
  ['read', '--scope read', ''],
  ['read write', '--scope "read write"', '--scope "read write"'],
  ['droplet:read', '--scope droplet:read --any-scope', '--scope droplet:read --any-scope'],
  ['api/.default', '--scope api/.default --any-scope', '--scope api/.default --any-scope'],
  [
    'https://a.example/read',
    '--scope https://a.example/read --any-scope',
    '--scope https://a.example/read --any-scope',
  ],
  ['a/b c?d', "--scope 'a/b c?d' --any-scope", "--scope 'a/b c?d' --any-scope"],
  ['$(rm -rf ~)', "--scope '$(rm -rf ~)' --any-scope", "--scope '$(rm -rf ~)' --any-scope"],
  ["it's", "--scope 'it'\\''s' --any-scope", "--scope 'it'\\''s' --any-scope"],
  ['read\nreboot', '', ''],
  ['read `reboot`', '', ''],
  ['a"b', '', ''],
])('the scope %s is asked for again by %j, and when it is not asked for anyway by %j', (scope, words, wider) => {
  expect(formatScopeOption(scope).join(' ')).toBe(words);
  expect(formatScopeOptionUnlessDefault(scope).join(' ')).toBe(wider);
});

it('a scope that was not asked for is not asked for again', () => {
  expect(formatScopeOptionUnlessDefault(undefined)).toEqual([]);
});

it.each([
  [undefined, 'implicit', ''],
  ['code', undefined, ''],
  ['implicit', undefined, '--flow implicit'],
  ['implicit', 'implicit', ''],
  ['code', 'implicit', '--flow code'],
] as const)('the flow %s, where the profile has %s, is asked for again by %j', (flow, ofProfile, words) => {
  expect(formatLoginFlowOption(flow, ofProfile).join(' ')).toBe(words);
});

it('a login that came to nothing is started again with its flow and scope, content with any grant, or in the other flow', () => {
  expect(buildLoginRetryCommands(profileNamed('default'), { flow: 'code', scope: undefined }, undefined)).toEqual({
    flow: 'code',
    sameRequest: '`cloudctl auth login`',
    profileTokenParams: '`cloudctl auth login`',
    acceptAnyScope: '`cloudctl auth login --accept-scope`',
    otherFlow: '`cloudctl auth login --flow implicit`',
  });
  expect(buildLoginRetryCommands(profileNamed('work'), { flow: 'implicit', scope: 'read write' }, 'implicit')).toEqual({
    flow: 'implicit',
    sameRequest: '`cloudctl auth login --scope "read write" --profile work`',
    profileTokenParams: '`cloudctl auth login --scope "read write" --profile work`',
    acceptAnyScope: '`cloudctl auth login --scope "read write" --accept-scope --profile work`',
    otherFlow: '`cloudctl auth login --flow code --scope "read write" --profile work`',
  });
});

it('a login is repeated with its typed options, except those that the other command changes or does not accept', () => {
  const typed = ['--prompt select_account', '--token-params body', '--no-pkce', '--accept-scope'];
  const request = { flow: 'code', scope: undefined, team: 'personal' } as const;
  expect(buildLoginRetryCommands(profileNamed('default'), request, undefined, typed)).toEqual({
    flow: 'code',
    sameRequest:
      '`cloudctl auth login --team personal --prompt select_account --token-params body --no-pkce --accept-scope`',
    profileTokenParams: '`cloudctl auth login --team personal --prompt select_account --no-pkce --accept-scope`',
    acceptAnyScope:
      '`cloudctl auth login --team personal --prompt select_account --token-params body --no-pkce --accept-scope`',
    otherFlow: '`cloudctl auth login --flow implicit --token-params body --no-pkce --accept-scope`',
  });
});
