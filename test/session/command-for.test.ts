import { expect, it } from 'vitest';
import { commandFor, scopeOption, widerScopeOption } from '../../src/session/command-for.ts';

it.each([
  ['default', '`cloudctl auth setup`'],
  ['work', '`cloudctl auth setup --profile work`'],
])('a command for %s is %s', (profile, command) => {
  expect(commandFor(profile, 'auth setup')).toBe(command);
});

it.each([
  ['read', '--scope read', ''],
  ['read write', '--scope "read write"', '--scope "read write"'],
  ['droplet:read', '--scope droplet:read --any-scope', '--scope droplet:read --any-scope'],
  ['$(rm -rf ~)', '', ''],
])('the scope %s is asked for again by %j, and when it is not asked for anyway by %j', (scope, words, wider) => {
  expect(scopeOption(scope).join(' ')).toBe(words);
  expect(widerScopeOption(scope).join(' ')).toBe(wider);
});

it('a scope that was not asked for is not asked for again', () => {
  expect(widerScopeOption(undefined)).toEqual([]);
});
