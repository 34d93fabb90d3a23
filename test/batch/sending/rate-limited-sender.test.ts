import { expect, it } from 'vitest';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { CliError } from '../../../src/errors.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { apiOf, batchResponse, instantClock } from '../batch-fixtures.ts';

const busy = batchResponse(429, {}, { retryAfter: 0 });
const signal = new AbortController().signal;
const post = { method: 'POST', path: '/v2/droplets', body: '{}' } as const;

/** The waits that were announced, after so many requests in flight together were refused so many times. */
async function waits(together: number, times: number): Promise<readonly number[]> {
  const told: number[] = [];
  const onPause = async (ms: number): Promise<void> => void told.push(Math.round(ms / 1000));
  const line = createRateLimitedSender({
    api: apiOf(() => busy),
    loginHints: workLoginHints,
    clock: instantClock(),
    maxPause: 900_000,
    onPause,
  });
  for (let round = 0; round < times; round++) {
    await line.waitForTurn(signal);
    await Promise.all(Array.from({ length: together }, () => line.request(post)));
  }
  await line.waitForTurn(signal);
  return told;
}

it('requests that were refused together are one refusal, and those after the wait another', async () => {
  // A wait of one second is not announced.
  expect(await waits(4, 3)).toEqual([2, 4]);
  expect(await waits(1, 3)).toEqual([2, 4]);
});

it('an answer without a Date leaves the time of the server as it was last told', async () => {
  const dates = [Date.parse('2026-01-01T00:00:07Z'), undefined, Date.parse('2026-01-01T00:00:09Z')];
  const api = apiOf(
    () => batchResponse(500),
    (_, count) => batchResponse(200, {}, { date: dates[count] }),
  );
  const line = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock: instantClock(),
    maxPause: 900_000,
    onPause: async () => {},
  });
  const times: (string | undefined)[] = [line.serverTime()];
  for (const _ of dates) {
    await line.request({ method: 'GET', path: '/v2/droplets', signal: new AbortController().signal });
    times.push(line.serverTime());
  }
  const [first, last] = ['2026-01-01T00:00:07.000Z', '2026-01-01T00:00:09.000Z'];
  expect(times).toEqual([undefined, first, first, last]);
});

/** What ends the patience with a server that refuses with this `retry-after`. */
async function endOf(retryAfter: number): Promise<unknown> {
  const api = apiOf(() => batchResponse(429, {}, { retryAfter }));
  const line = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock: instantClock(),
    maxPause: 900_000,
    onPause: async () => {},
  });
  for (;;) {
    try {
      await line.waitForTurn(signal);
    } catch (error) {
      return error;
    }
    await line.request(post);
  }
}

it.each([1_200, 1e25, 240])(
  'a wait that is too long, %d s at a time, is an error with the time',
  async (retryAfter) => {
    const error = await endOf(retryAfter);
    expect(error).toMatchObject({ code: 'rate_limited', exitCode: 5 });
    expectGolden('droplets', error instanceof CliError ? `${error.message}\n${error.detail}` : '');
  },
);
