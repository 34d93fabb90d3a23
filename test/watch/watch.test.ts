import { expect, it } from 'vitest';
import { closedPort } from '../commands/db/ground.ts';
import { followSource, sourceOfPostgres, sourceOfRedis } from './follow.ts';

const nowhere = async () => ({ host: '127.0.0.1', port: await closedPort(), password: 'p' });

it.each([
  ['PostgreSQL', async () => sourceOfPostgres(await nowhere(), 'shop')],
  ['Redis', async () => sourceOfRedis(await nowhere())],
])('a look that did not reach a %s source tells the reason by itself', async (_engine, source) => {
  const watch = followSource(await source());
  await watch.until('a look', () => true);
  expect(watch.looks[0]).toMatchObject({ reached: false, outage: expect.stringMatching(/^connection refused/) });
});
