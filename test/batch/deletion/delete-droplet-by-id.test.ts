import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/api/api-response.ts';
import type { ApiClient, ApiRequest } from '../../../src/api/client.ts';
import { deleteDropletById } from '../../../src/batch/deletion/delete-droplet-by-id.ts';
import { defaultBatchTimeLimits } from '../../../src/batch/sending/batch-time-limits.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { CliError } from '../../../src/errors.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { batchResponse, instantClock } from '../batch-fixtures.ts';

type Step = ApiResponse | CliError | ((ended: AbortController) => ApiResponse | CliError);

/** Deletes droplet 7; each request has its step, and the last one stays. */
async function deleted(steps: readonly Step[], { isStopped = (): boolean => false, maxPause = 900_000 } = {}) {
  const sent: string[] = [];
  const [ending, ended] = [new AbortController(), new AbortController()];
  const api: ApiClient = {
    baseOrigin: 'https://api.example',
    success: () => Promise.reject(new Error('not used')),
    json: () => Promise.reject(new Error('not used')),
    request: async ({ method, path }: ApiRequest) => {
      const step = steps[Math.min(sent.length, steps.length - 1)] ?? batchResponse(500);
      sent.push(`${method} ${path}`);
      const result = typeof step === 'function' ? step(ending) : step;
      if (result instanceof CliError) throw result;
      return result;
    },
  };
  const clock = instantClock();
  const lane = createRateLimitedSender({ api, loginHints: workLoginHints, clock, maxPause, onPause: async () => {} });
  const end = await deleteDropletById(7, {
    ...{ lane, clock, isStopped, loginHints: workLoginHints, timings: defaultBatchTimeLimits },
    ...{ ending: ending.signal, ended: ended.signal },
  });
  const count = (method: string): number => sent.filter((line) => line.startsWith(method)).length;
  expect(sent.filter((line) => !line.endsWith(' /v2/droplets/7'))).toEqual([]);
  return { ...end, status: end.result?.status, deletes: count('DELETE'), gets: count('GET'), slept: clock.slept };
}

const done = batchResponse(204, '');
const gone = batchResponse(404, { id: 'not_found', message: 'no' });
const exists = batchResponse(200, { droplet: { id: 7, name: 'a' } });
const broken = batchResponse(503);
const lost = new CliError('unreachable', 'lost', { cause: new HttpSendError('connection', true, 'lost') });
const unsent = new CliError('unreachable', 'refused', { cause: new HttpSendError('refused', false, 'refused') });

describe('the deletion of one droplet', () => {
  it.each<[string, readonly Step[], string, number, number]>([
    ['204', [done], 'deleted', 1, 0],
    ['a lost response, then 204', [lost, done], 'deleted', 2, 0],
    ['a lost response, then 404', [lost, gone], 'deleted', 2, 0],
    ['a 200, then 404', [batchResponse(200, '<html>'), gone], 'deleted', 2, 0],
    ['a 409', [batchResponse(409, { id: 'conflict', message: 'busy' })], 'failed', 1, 0],
    ['a 404 of something else', [batchResponse(404, { id: 'no_such_path', message: 'no' })], 'failed', 1, 0],
    ['a 404 without an id', [batchResponse(404, {})], 'failed', 1, 0],
    ['a redirect elsewhere', [batchResponse(307)], 'failed', 1, 0],
    ['503 for ever, and the droplet gone', [broken, broken, broken, broken, broken, gone], 'deleted', 5, 1],
    ['503 for ever, and the droplet there', [broken, broken, broken, broken, broken, exists], 'unknown', 5, 1],
    ['503 for ever, also for the lookup', [broken], 'unknown', 5, 1],
    ['a lost response, then a refusal, and the droplet gone', [lost, batchResponse(422, {}), gone], 'deleted', 2, 1],
    ['a lost response, then a refusal, and it exists', [lost, batchResponse(422, {}), exists], 'unknown', 2, 1],
  ])('with %s', async (_what, steps, status, deletes, gets) => {
    expect(await deleted(steps)).toMatchObject({ status, deletes, gets });
  });

  it('says that the droplet was already gone only when no request of this run can have deleted it', async () => {
    expect((await deleted([gone])).result).toEqual({ status: 'deleted', already_gone: true });
    expect((await deleted([broken, gone])).result).toEqual({ status: 'deleted' });
  });

  it('waits for the rate limit, which is no attempt', async () => {
    const refusal = batchResponse(429, {}, { retryAfter: 60 });
    const ran = await deleted([...Array.from({ length: 9 }, () => refusal), done]);
    expect(ran).toMatchObject({ status: 'deleted', deletes: 10 });
    expect(ran.slept).toEqual(Array.from({ length: 9 }, () => 60_000));
  });

  it('stops where the rate limit takes too long', async () => {
    const ran = await deleted([batchResponse(429, {}, { retryAfter: 60 })], { maxPause: 30_000 });
    expect(ran).toMatchObject({ status: 'failed', deletes: 1, stop: { code: 'rate_limited' } });
  });

  it.each<[string, Step, string]>([
    ['a 403', batchResponse(403, { id: 'forbidden', message: 'no' }), 'scope_too_small'],
    ['an ended session', new CliError('needs_login', 'over'), 'needs_login'],
    ['a server that is not reached', unsent, 'unreachable'],
  ])('stops all at %s', async (_what, step, code) => {
    expect(await deleted([step])).toMatchObject({ status: 'failed', deletes: 1, stop: { code } });
    // The first request may have been carried out, whatever the second one meets.
    expect(await deleted([lost, step, broken])).toMatchObject({ status: 'unknown', deletes: 2, stop: { code } });
  });

  it('sends nothing when the run has stopped, and repeats nothing after that', async () => {
    expect(await deleted([done], { isStopped: () => true })).toMatchObject({ result: undefined, deletes: 0, gets: 0 });
    let calls = 0;
    const isStopped = (): boolean => ++calls > 1;
    expect(await deleted([lost, gone], { isStopped })).toMatchObject({ status: 'deleted', deletes: 1, gets: 1 });
  });

  it('looks up what an interruption leaves unclear', async () => {
    const interrupted = (ending: AbortController): CliError => {
      ending.abort();
      return lost;
    };
    expect(await deleted([interrupted, gone])).toMatchObject({ status: 'deleted', deletes: 1, gets: 1 });
    expect(await deleted([interrupted, exists])).toMatchObject({ status: 'unknown', deletes: 1, gets: 1 });
  });

  it('waits for the rate limit of the lookup', async () => {
    const refusal = batchResponse(429, {}, { retryAfter: 1 });
    const ran = await deleted([broken, broken, broken, broken, broken, refusal, gone]);
    expect(ran).toMatchObject({ status: 'deleted', deletes: 5, gets: 2 });
  });
});
