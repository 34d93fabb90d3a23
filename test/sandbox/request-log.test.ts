import { describe, expect, it } from 'vitest';
import { createRequestLog, getLastTokenCharacters, type LoggedRequest } from '../../src/sandbox/request-log.ts';

function entry(status: number): LoggedRequest {
  return { at: '2026-01-01T00:00:00.000Z', method: 'GET', path: '/a', status };
}

describe('the request log', () => {
  it('keeps the latest 10 000 and counts all of them', () => {
    const log = createRequestLog();
    for (let i = 0; i < 25_000; i += 1) log.add(entry(i), 'GET /a');
    const kept = log.list(undefined);
    expect([kept.length, kept[0]?.status, kept.at(-1)?.status]).toEqual([10_000, 15_000, 24_999]);
    expect(log.counts()).toEqual({ 'GET /a': 25_000 });
  });

  it('waiting ends when the signal aborts', async () => {
    const log = createRequestLog();
    log.add(entry(200), 'GET /a');
    await log.waitFor('GET /a', 2, AbortSignal.timeout(20));
    await log.waitFor('GET /a', 2, AbortSignal.abort());
    expect(log.list('GET /a')).toHaveLength(1);
  });

  it('the hint of a token is its end, and a short token has none', () => {
    expect(getLastTokenCharacters('sandbox_0123456789')).toBe('6789');
    expect(getLastTokenCharacters('short')).toBeUndefined();
  });
});
