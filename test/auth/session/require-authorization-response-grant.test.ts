import { expect, it } from 'vitest';
import type { AuthorizationResult } from '../../../src/auth/oauth/authorize.ts';
import { requireAuthorizationResponseGrant } from '../../../src/auth/session/require-authorization-response-grant.ts';
import { buildLoginRetryCommands } from '../../../src/auth/session/suggested-commands.ts';
import { CliError } from '../../../src/base/errors.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { profileNamed } from '../../fixtures/profile.ts';

function errorOf(result: AuthorizationResult, flow: 'code' | 'implicit', prompt?: string): CliError {
  try {
    requireAuthorizationResponseGrant(result, {
      request: { prompt },
      loginCommands: buildLoginRetryCommands(profileNamed('default'), { flow, scope: undefined }, undefined),
    });
  } catch (error) {
    if (error instanceof CliError) return error;
  }
  throw new Error('no CliError');
}

const textOf = ({ code, message, detail, hint }: CliError): string =>
  `${code}: ${message}\ndetail: ${detail}\nhint: ${hint}`;

it.each([
  ['access_denied', 4],
  ['consent_required', 4],
  ['login_required', 4],
  ['interaction_required', 4],
  ['account_selection_required', 4],
  ['invalid_scope', 4],
  ['server_error', 1],
  ['temporarily_unavailable', 1],
  ['unsupported_response_type', 1],
  ['unauthorized_client', 1],
  ['unknown', 1],
] as const)('the error %s of the redirect ends with exit %d', (error, exitCode) => {
  const found = errorOf({ kind: 'error', error, description: 'of the\u001b[31m server' }, 'code');
  expect(found.exitCode).toBe(exitCode);
  expect(found.detail).not.toContain('\u001b');
  expectGolden('errors', textOf(found));
});

it.each(['consent_required', 'login_required', 'interaction_required', 'account_selection_required'] as const)(
  'after --prompt none %s suggests a login without it',
  (error) => {
    expectGolden('errors', textOf(errorOf({ kind: 'error', error }, 'code', 'none')));
  },
);

it('each flow suggests the other one when the server does not support it', () => {
  for (const flow of ['code', 'implicit'] as const) {
    const { hint } = errorOf({ kind: 'error', error: 'unsupported_response_type' }, flow);
    const other = flow === 'code' ? '`cloudctl auth login --flow implicit`' : '`cloudctl auth login`';
    expect(hint?.endsWith(other)).toBe(true);
  }
});

it('a response with another state, or a malformed one, is its own error', () => {
  expect(errorOf({ kind: 'state_mismatch' }, 'code')).toMatchObject({ code: 'state_mismatch', exitCode: 4 });
  expectGolden('errors', textOf(errorOf({ kind: 'state_mismatch' }, 'code')), 'state');
  for (const flow of ['code', 'implicit'] as const)
    expectGolden('errors', textOf(errorOf({ kind: 'malformed', reason: 'has no code' }, flow)), flow);
});
