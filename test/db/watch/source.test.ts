import { expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { pollSource } from '../../../src/db/watch/source.ts';
import { startWatchRun, watchedPostgres, watchedRedis } from './run-watch.ts';

const nowhere = async () => ({ host: '127.0.0.1', port: await closedPort(), password: 'p' });

it.each([
  ['PostgreSQL', async () => watchedPostgres(await nowhere(), 'shop')],
  ['Redis', async () => watchedRedis(await nowhere())],
])('a look that did not reach a %s source tells the reason by itself', async (_engine, source) => {
  const watch = startWatchRun(await source());
  await watch.until('a look', () => true);
  expect(watch.looks[0]).toMatchObject({ reached: false, outage: expect.stringMatching(/^connection refused/) });
});

it('a clock that is set back while it looks makes no pause longer', async () => {
  const end = new AbortController();
  let now = 10 * 3_600_000;
  const pauses: number[] = [];
  const clock = {
    now: () => {
      now -= 3_600_000;
      return now;
    },
    sleep: async (ms: number) => {
      pauses.push(ms);
      end.abort();
    },
  };
  const looks = pollSource(watchedRedis(await nowhere()), 2000, { clock, signal: end.signal });
  for await (const looked of looks) expect(looked.reached).toBe(false);
  expect(pauses).toEqual([2000]);
});
