import { describe, expect, it } from 'vitest';
import {
  type ApiResponse,
  isTokenRefused,
  notJsonError,
  readErrorBody,
  toApiError,
} from '../../src/api/api-response.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { workLoginHints } from './login-hints.ts';
import { testResponse } from './test-response.ts';

function answer(status: number, body: unknown = {}, changes: Partial<ApiResponse> = {}): ApiResponse {
  return testResponse(status, body, { requestId: () => 'r-1', ...changes });
}

describe('a refused access token', () => {
  const missing = { id: 'not_found', message: 'The resource you requested could not be found.' };

  it.each([
    ['a 401 on any path', answer(401, {}), '/v2/droplets/7', true],
    ['a 401 without a body', answer(401, ''), '/v2/anything', true],
    ['a 404 with not_found on actions', answer(404, missing), '/v2/actions', true],
    ['a 404 with not_found on droplets with a query', answer(404, missing), '/v2/droplets?page=1', true],
    ['a 400 with not_found on a collection', answer(400, missing), '/v2/droplets', true],
    // HEAD has no body that could name it, and a collection cannot be missing.
    ['a 404 without a body on a collection', answer(404, ''), '/v2/actions', true],
    ['a 404 on a single thing', answer(404, missing), '/v2/droplets/7', false],
    ['a 404 on a path that only begins like a collection', answer(404, missing), '/v2/dropletsX', false],
    ['a 404 with another id', answer(404, { id: 'gone' }), '/v2/droplets', false],
    ['a page of a proxy', answer(404, '<html>', { contentType: () => 'text/html' }), '/v2/droplets', false],
    ['a 403', answer(403, { id: 'forbidden' }), '/v2/droplets', false],
    ['a 500 with not_found', answer(500, missing), '/v2/droplets', false],
    ['a 200 with not_found', answer(200, missing), '/v2/droplets', false],
    ['a 422 without a body', answer(422, ''), '/v2/droplets', false],
  ])('is %s: %#', (_what, given, path, refused) => {
    expect(isTokenRefused(given, path)).toBe(refused);
  });
});

describe('the error for an answer', () => {
  it.each([
    [401, 'token_refused', 4],
    [403, 'scope_too_small', 4],
    [404, 'not_found', 1],
    [409, 'api_error', 1],
    [422, 'api_error', 1],
    [429, 'rate_limited', 1],
    [500, 'api_error', 1],
    [302, 'api_error', 1],
  ] as const)('of status %d is %s', (status, code, exitCode) => {
    expect(toApiError(answer(status, { message: 'said so' }), 'GET', '/v2/x', workLoginHints)).toMatchObject({
      code,
      exitCode,
      status,
      requestId: 'r-1',
    });
  });

  it('of a small scope says how to get a wider one', () => {
    const error = toApiError(
      answer(403, { message: 'You are missing the required permission.' }),
      'POST',
      '/v2/droplets',
      workLoginHints,
    );
    expectGolden('api', error.message);
    expect(error.detail).toBe('You are missing the required permission.');
    expect(error.hint).toBe(workLoginHints.write);
  });

  it('of a forbidden reading does not blame the scope, since every scope allows it', () => {
    const error = toApiError(answer(403), 'GET', '/v2/droplets', workLoginHints);
    expectGolden('api', error.message);
    expect(error.hint).toBe(workLoginHints.read);
  });

  it('of a refused token says how to get another', () => {
    expect(toApiError(answer(401), 'GET', '/v2/droplets', workLoginHints).hint).toBe(workLoginHints.login);
  });

  it('of one thing that is not there names the command that lists what is', () => {
    expect(toApiError(answer(404), 'GET', '/v2/droplets/7', workLoginHints).hint).toContain('`cloudctl droplets list`');
    expect(toApiError(answer(404), 'GET', '/v2/nothing', workLoginHints).hint).toBeUndefined();
  });

  it('of broken JSON speaks of no portal', () => {
    const error = notJsonError(answer(200, '{"droplets":[', { contentType: () => 'application/json' }), 'GET', '/v2/x');
    expectGolden('api', `${error.message}\n${error.detail}\n${error.hint}`);
  });

  it('of a limit says how long to wait, if that is known', () => {
    const hints = [17, undefined].map(
      (retryAfter) => toApiError(answer(429, {}, { retryAfter }), 'GET', '/v2/x', workLoginHints).hint,
    );
    expectGolden('api', hints.join('\n'));
  });

  it('of a redirect says that it was not followed', () => {
    expect(toApiError(answer(307, ''), 'GET', '/v2/x', workLoginHints).detail).toBeDefined();
    expectGolden('api', String(toApiError(answer(307, ''), 'GET', '/v2/x', workLoginHints).detail));
  });

  it.each([
    [503, 'api_error'],
    [429, 'rate_limited'],
  ])('of a page with status %i is what the status means', (status, code) => {
    const page = answer(status, '<html>secret page</html>', { contentType: () => 'text/html' });
    const error = toApiError(page, 'GET', '/v2/x', workLoginHints);
    expect(error).toMatchObject({ code });
    expectGolden('api', `${error.message}\n${error.detail}\n${error.hint}`);
    expect(JSON.stringify(error)).not.toContain('secret page');
  });

  it('of a page that is not JSON names its type and what may stand between', () => {
    const page = answer(404, '<html>secret page</html>', { contentType: () => 'text/html' });
    const error = toApiError(page, 'GET', '/v2/x', workLoginHints);
    expect(error).toMatchObject({ code: 'api_error', detail: expect.stringMatching(/^status 404, text\/html/) });
    expect(error.hint).toMatch(/base_url/);
    expect(JSON.stringify(error)).not.toContain('secret page');
    expectGolden('api', String(notJsonError(answer(200, '', { contentType: () => '' }), 'GET', '/v2/x').detail));
  });
});

it.each([
  ['{"id":"a","message":"b"}', { id: 'a', message: 'b' }],
  ['{"id":7,"message":null}', {}],
  ['[]', {}],
  ['', {}],
  ['{', {}],
])('the body %j says %j', (body, said) => {
  expect(readErrorBody(answer(400, body))).toEqual(said);
});

it.each([
  ['/v2/databases/3b643ad7-65aa-4066-b45b-1c64b6db600a/online-migration', 'cloudctl db list'],
  ['/v2/droplets/7', 'cloudctl droplets list'],
])('the hint for %s, which does not exist, lists what does', (path, command) => {
  expect(toApiError(answer(404, { message: 'not there' }), 'PUT', path, workLoginHints).hint).toContain(command);
});
