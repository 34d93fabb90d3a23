import { expect, it } from 'vitest';
import type { TokenFailure } from '../../../src/auth/oauth/token.ts';
import {
  type ErrorContext,
  isServerFailure,
  noResponseError,
  type TokenOperation,
  tokenError,
} from '../../../src/auth/session/errors.ts';
import type { CliError } from '../../../src/base/errors.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const context: ErrorContext = {
  operation: 'exchange',
  origin: 'https://cloud.example.com',
  profile: profileNamed('default'),
  tokenParams: 'query',
  isSpecServer: false,
  loginCommand: '`cloudctl auth login`',
};
const operations: readonly TokenOperation[] = ['exchange', 'refresh', 'revokeAccessToken', 'revokeRefreshToken'];
const refused = (error: string, status = 400): TokenFailure => ({ kind: 'refused', status, error });
const malformed = (status: number): TokenFailure => ({
  kind: 'malformed',
  status,
  reason: 'the response is not JSON',
});
const failures: readonly (readonly [string, TokenFailure])[] = [
  ...[
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'invalid_request',
    'unsupported_grant_type',
    'invalid_scope',
    'constructor',
    'server_error',
    'temporarily_unavailable',
  ].map((error) => [error, refused(error)] as const),
  ['slow_down with status 429', refused('slow_down', 429)],
  ['internal with status 500', refused('internal', 500)],
  ...[200, 400, 408, 429, 503].map((status) => [`status ${status}`, malformed(status)] as const),
];

const textOf = ({ code, message, detail, hint }: CliError): string =>
  `${code}: ${message}\ndetail: ${detail}\nhint: ${hint}`;

it.each(failures)('the response %s has one error for each operation', (_name, failure) => {
  for (const operation of operations) {
    const error = tokenError(failure, { ...context, operation, consequence: 'the consequence' });
    expectGolden('errors', textOf(error), operation);
  }
});

it.each([
  ['exchange', 'invalid_client', 'invalid_client', 4],
  ['exchange', 'invalid_grant', 'invalid_grant', 4],
  ['exchange', 'invalid_request', 'api_error', 1],
  ['refresh', 'invalid_client', 'invalid_client', 4],
  ['refresh', 'invalid_grant', 'needs_login', 4],
  // Nothing is sent without a session, and a job that pages on exit code 4 has to know.
  ['refresh', 'invalid_request', 'api_error', 4],
  ['refresh', 'server_error', 'api_error', 1],
  ['revokeAccessToken', 'invalid_client', 'api_error', 1],
] as const)('%s with %s is %s, exit %d', (operation, error, code, exitCode) => {
  expect(tokenError(refused(error, 401), { ...context, operation })).toMatchObject({ code, exitCode });
});

it('the status of the response is kept, but not with the end of a session', () => {
  expect(tokenError(malformed(503), context).status).toBe(503);
  expect(tokenError(refused('invalid_grant'), { ...context, operation: 'refresh' }).status).toBeUndefined();
});

it('the description of a server is cleaned for the terminal', () => {
  const failure = { ...refused('invalid_request'), description: 'no\u001b[31m\u202e' } as const;
  expect(tokenError(failure, context).detail).not.toMatch(/[\u001b\u202e]/);
});

it('another way to send the parameters is suggested only where the server may expect it', () => {
  const other = (operation: TokenOperation, failure: TokenFailure, changes: Partial<ErrorContext> = {}) =>
    /config set token_params (\w+)/.exec(tokenError(failure, { ...context, operation, ...changes }).hint ?? '')?.[1];
  for (const operation of ['exchange', 'refresh'] as const) {
    expect(other(operation, refused('invalid_request'))).toBe('body');
    expect(other(operation, refused('invalid_request'), { isSpecServer: true })).toBeUndefined();
    expect(other(operation, refused('invalid_request'), { tokenParams: 'body' })).toBeUndefined();
    expect(other(operation, malformed(400))).toBe('body');
    expect(other(operation, malformed(200))).toBeUndefined();
    expect(other(operation, malformed(400), { isSpecServer: true })).toBeUndefined();
    expect(other(operation, malformed(400), { tokenParams: 'body' })).toBeUndefined();
    expect(other(operation, refused('invalid_client'), { tokenParams: 'body' })).toBe('basic');
    expect(other(operation, refused('unauthorized_client'), { tokenParams: 'body' })).toBe('basic');
    expect(other(operation, refused('invalid_client'))).toBe('body');
    expect(other(operation, refused('invalid_client'), { isSpecServer: true })).toBeUndefined();
  }
  expect(other('refresh', refused('invalid_grant'))).toBe('body');
  expect(other('refresh', refused('invalid_grant'), { isSpecServer: true })).toBeUndefined();
});

it('a request without a complete response is exit 6', () => {
  for (const operation of operations) {
    const error = noResponseError(new SendError('refused', false, 'connection refused'), operation, {
      detail: 'a fact',
      loginCommand: '`cloudctl auth login`',
    });
    expect(error).toMatchObject({ code: 'unreachable', exitCode: 6, detail: 'a fact' });
    expectGolden('errors', textOf(error), operation);
  }
  expect(noResponseError(new SendError('tls', false, 'expired'), 'refresh').code).toBe('tls');
});

it('a failure whose cause is in the environment has the hint of its cause, except after a logout', () => {
  for (const operation of operations) {
    const failure = new SendError('connection', false, 'refused', { atProxy: true, hint: 'check the password' });
    const { hint } = noResponseError(failure, operation);
    expect(hint === 'check the password').toBe(operation === 'exchange' || operation === 'refresh');
  }
});

it('408 and 5xx are failures of the server', () => {
  expect([408, 429, 499, 500, 599].map(isServerFailure)).toEqual([true, false, false, true, true]);
});
