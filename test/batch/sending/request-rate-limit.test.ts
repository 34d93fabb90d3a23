import { expect, it } from 'vitest';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { limitRequestRateOfSender } from '../../../src/batch/sending/request-rate-limit.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchResponse, instantClock } from '../batch-fixtures.ts';

const { signal } = new AbortController();

function limited(status: number) {
  const clock = instantClock();
  const sentAt: number[] = [];
  const api = apiOf(
    () => batchResponse(500),
    () => {
      sentAt.push(clock.now());
      return batchResponse(status);
    },
  );
  const onPause = async (): Promise<void> => {};
  const lane = createRateLimitedSender({ api, loginHints: workLoginHints, clock, maxPause: 900_000, onPause });
  const limitedLane = limitRequestRateOfSender(lane, clock, { requests: 25, window: 60_000 });
  const send = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      await limitedLane.waitForTurn(signal);
      await limitedLane.request({ method: 'GET', path: '/v2/droplets' });
    }
  };
  return { send, sentAt, clock };
}

it('in no minute are there more than 25 requests', async () => {
  const { send, sentAt } = limited(200);
  await send(80);
  for (const [at, time] of sentAt.entries())
    expect(sentAt.slice(at).filter((other) => other < time + 60_000).length).toBeLessThanOrEqual(25);
  expect(new Set(sentAt).size).toBe(4);
});

it('a request that fails counts three times: the API client has repeated it', async () => {
  const { send, sentAt } = limited(502);
  await send(18);
  expect(sentAt.filter((time) => time === sentAt[0]).length).toBeLessThanOrEqual(9);
});
