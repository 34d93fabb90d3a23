import { describe, expect, it } from 'vitest';
import {
  createSandboxRequestLog,
  getLastTokenCharacters,
  type LoggedRequest,
  redactLoggedRequest,
} from '../../src/sandbox/request-log.ts';

function entry(status: number): LoggedRequest {
  return { at: '2026-01-01T00:00:00.000Z', method: 'GET', path: '/a', status };
}

describe('the request log', () => {
  it('keeps the latest 10 000 and counts all of them', () => {
    const log = createSandboxRequestLog();
    for (let i = 0; i < 25_000; i += 1) log.add(entry(i), 'GET /a');
    const kept = log.list(undefined);
    expect([kept.length, kept[0]?.status, kept.at(-1)?.status]).toEqual([10_000, 15_000, 24_999]);
    expect(log.counts()).toEqual({ 'GET /a': 25_000 });
  });

  it('waiting ends when the signal aborts', async () => {
    const log = createSandboxRequestLog();
    log.add(entry(200), 'GET /a');
    await log.waitFor('GET /a', 2, AbortSignal.timeout(20));
    await log.waitFor('GET /a', 2, AbortSignal.abort());
    expect(log.list('GET /a')).toHaveLength(1);
  });

  it('the hint of a token is its end, and a short token has none', () => {
    expect(getLastTokenCharacters('sandbox_0123456789')).toBe('6789');
    expect(getLastTokenCharacters('short')).toBeUndefined();
  });

  it.each([
    ['/v2/droplets/{id}', '/v2/droplets/{id}'],
    ['/v1/oauth/token&client_secret=x', '/v1/oauth/token'],
    ['/v2/droplets/1&access_token=x', '/v2/droplets/1'],
    ['/v2/droplets;access_token=x', '/v2/droplets'],
    ['/v2/access_token=x', '/v2/access_token'],
    ['/v2/droplets%3Faccess_token%3Dx', '/v2/droplets'],
    ['/v2/droplets%3faccess_token', '/v2/droplets'],
    ['/v2/droplets%2526access_token', '/v2/droplets'],
    ['/v2/a%20b', '/v2/a%20b'],
    [`/${'a'.repeat(300)}`, `/${'a'.repeat(199)}`],
  ])('the path %s is logged as %s', (path, logged) => {
    expect(redactLoggedRequest({ ...entry(404), path }, () => false).path).toBe(logged);
  });

  it('only known client IDs and grant types are logged', () => {
    const redact = (fields: object): object => redactLoggedRequest({ ...entry(400), ...fields }, (id) => id === 'app');
    expect(redact({ client_id: 'app', grant_type: 'password' })).toEqual({
      ...entry(400),
      client_id: 'app',
      grant_type: 'password',
    });
    expect(redact({ client_id: 'secret', grant_type: 'secret' })).toEqual({
      ...entry(400),
      client_id: '(unknown)',
      grant_type: '(unknown)',
    });
    expect(redact({})).toEqual(entry(400));
  });
});
