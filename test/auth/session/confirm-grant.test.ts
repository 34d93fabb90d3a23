import { expect, it } from 'vitest';
import type { TokenGrant } from '../../../src/auth/oauth/grant.ts';
import {
  confirmGrantedOAuthScope,
  requireRequestedAccount,
  type ScopeMismatchPolicy,
} from '../../../src/auth/session/confirm-grant.ts';
import type { OAuthLoginOptions } from '../../../src/auth/session/oauth-login-options.ts';
import { buildLoginRetryCommands } from '../../../src/auth/session/suggested-commands.ts';
import { Secret } from '../../../src/base/secret.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const commands = buildLoginRetryCommands(profileNamed('default'), { flow: 'code', scope: undefined }, undefined);
const grantOf = (changes: Partial<TokenGrant>): TokenGrant => ({ accessToken: new Secret('at-1'), ...changes });
const requestOf = (changes: Partial<OAuthLoginOptions>): OAuthLoginOptions => ({
  flow: 'code',
  scope: undefined,
  prompt: undefined,
  accountHint: undefined,
  pkce: true,
  listen: true,
  limit: 1,
  ...changes,
});

async function confirm(grant: Partial<TokenGrant>, scope: string | undefined, onOtherScope: ScopeMismatchPolicy) {
  let questions = 0;
  const onQuestion = (): void => void questions++;
  const signal = new AbortController().signal;
  const options = { request: requestOf({ scope }), loginCommands: commands, onOtherScope, onQuestion, signal };
  return { scope: await confirmGrantedOAuthScope(grantOf(grant), options), questions };
}

it('a granted scope that is the requested one, in any order, is stored without a question', async () => {
  const refuse = async (): Promise<boolean> => false;
  expect(await confirm({ scope: 'write read' }, 'read write', refuse)).toEqual({ scope: 'write read', questions: 0 });
  expect(await confirm({ scope: 'read' }, undefined, refuse)).toEqual({ scope: 'read', questions: 0 });
});

it('a grant without a scope has the requested one', async () => {
  expect(await confirm({}, 'read write', 'refuse')).toEqual({ scope: 'read write', questions: 0 });
});

it('another scope is accepted, refused or asked about', async () => {
  expect(await confirm({ scope: 'read' }, 'read write', 'accept')).toEqual({ scope: 'read', questions: 0 });
  expect(await confirm({ scope: 'read' }, 'read write', async () => true)).toEqual({ scope: 'read', questions: 1 });
  const code = 'scope_mismatch';
  await expect(confirm({ scope: 'read' }, 'read write', 'refuse')).rejects.toMatchObject({ code, exitCode: 4 });
  await expect(confirm({ scope: 'read' }, 'read write', async () => false)).rejects.toMatchObject({ code });
});

it.each([
  [{}, { uuid: 'abcdef12' }, true],
  [{ accountHint: 'ABCDEF' }, { uuid: 'abcdef12' }, true],
  [{ accountHint: 'abcdef' }, {}, true],
  [{ accountHint: 'abcdef' }, { uuid: '123456ab' }, false],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, { uuid: 'ABCDEF12' }, true],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, { uuid: 'abcdef99' }, false],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, {}, false],
] as const)('for the request %j the account %j is the requested one: %s', (request, info, isRequested) => {
  const check = (): void => requireRequestedAccount(grantOf({ info }), requestOf(request), commands);
  if (isRequested) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'login_required' }));
});
