import { describe, expect, it } from 'vitest';
import { hasWriteScope, isKnownScope, isSameOAuthScope, splitOAuthScope } from '../../../src/auth/oauth/scope.ts';

describe('scopes', () => {
  it.each([
    [undefined, ['read']],
    ['', ['read']],
    ['read', ['read']],
    ['write read', ['read', 'write']],
    ['read  write read', ['read', 'write']],
  ])('%j has the words %j', (scope, words) => {
    expect(splitOAuthScope(scope)).toEqual(words);
  });

  it.each([
    [undefined, 'read', true],
    ['read write', 'write read', true],
    ['read', 'read write', false],
    ['Read', 'read', false],
  ])('%j and %j are the same: %j', (a, b, same) => {
    expect(isSameOAuthScope(a, b)).toBe(same);
    expect(isSameOAuthScope(b, a)).toBe(same);
  });

  it.each([
    ['read', true, false],
    ['read write', true, true],
    ['write read', true, true],
    ['write', false, true],
    ['admin', false, false],
    ['readwrite', false, false],
  ])('%j is known: %j, and may write: %j', (scope, known, write) => {
    expect(isKnownScope(scope)).toBe(known);
    expect(hasWriteScope(scope)).toBe(write);
  });
});
