import { expect, test } from 'vitest';
import { checkCutover } from '../../../src/db/cutover/check.ts';
import { cutoverChecklist } from '../../../src/db/cutover/checklist.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { apiOf } from '../../api/api-of.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { eventually, startRedis } from '../../fixtures/redis.ts';
import { postgresEndpointOf, redisEndpointOf, startTarget } from '../engine/servers.ts';
import { makeDatabase, startWatchedPair } from '../watch/watched-pair.ts';

test('a Redis migration is ready when the replica has everything, and done when it is stopped', async () => {
  const [source, target] = await Promise.all([startRedis(), startRedis()]);
  let status = 'syncing';
  const { origin } = await serverFor((_request, response) => reply(response, 200, { id: 'm', status }));
  const api = await apiOf(origin);
  let onContents = () => {};
  const check = async () => {
    const facts = await checkCutover(api, {
      cluster: 'uuid-1',
      source: { engine: 'redis', source: redisEndpointOf(source) },
      target: { engine: 'redis', source: redisEndpointOf(target) },
      ignoreDbs: [],
      slots: [],
      record: undefined,
      clock: systemClock,
      signal: new AbortController().signal,
      acceptedTables: [],
      accepted: [],
      onCheck: (what) => what === 'comparing the contents' && onContents(),
    });
    return Object.fromEntries(cutoverChecklist(facts).map(({ id, state }) => [id, state]));
  };
  try {
    source.cli('SET', 'a', '1');
    target.cli('REPLICAOF', source.host, String(source.port));
    await eventually(() => target.cli('GET', 'a').trim() === '1', 'the copy');
    expect(await check()).toMatchObject({
      writes: 'done',
      lag: 'done',
      contents: 'done',
      stopped: 'open',
      clean: 'not_checked',
    });
    onContents = () => void source.cli('SET', 'b', '1');
    expect(await check()).toMatchObject({ target: 'done', writes: 'open', lag: 'done' });
    onContents = () => {};
    await eventually(() => target.cli('GET', 'b').trim() === '1', 'the write');
    target.cli('REPLICAOF', 'NO', 'ONE');
    status = 'canceled';
    expect(await check()).toEqual({
      target: 'done',
      writes: 'done',
      lag: 'done',
      contents: 'done',
      stopped: 'done',
      clean: 'done',
    });
    target.cli('SET', 'a', '2');
    expect(await check()).toEqual({
      target: 'done',
      writes: 'done',
      lag: 'unknown',
      contents: 'open',
      stopped: 'done',
      clean: 'done',
    });
  } finally {
    await Promise.all([source.stop(), target.stop()]);
  }
}, 90_000);

const options = {
  ...{ cluster: 'uuid-1', ignoreDbs: ['postgres'], slots: [], record: undefined, clock: systemClock },
  ...{ signal: new AbortController().signal, acceptedTables: [], accepted: [], onCheck: () => {} },
};

test('a replica of somebody else says nothing about a target that is none', async () => {
  const [source, other, target] = await Promise.all([startRedis(), startRedis(), startRedis()]);
  const { origin } = await serverFor((_request, response) => reply(response, 200, { id: 'm', status: 'syncing' }));
  try {
    for (const server of [source, target]) server.cli('SET', 'a', '1');
    other.cli('REPLICAOF', source.host, String(source.port));
    await eventually(() => /slave0:.*state=online/.test(source.cli('INFO', 'replication')), 'the other replica');
    const facts = await checkCutover(await apiOf(origin), {
      ...options,
      source: { engine: 'redis', source: redisEndpointOf(source) },
      target: { engine: 'redis', source: redisEndpointOf(target) },
    });
    const lag = cutoverChecklist(facts).find(({ id }) => id === 'lag');
    expect(lag).toMatchObject({ state: 'open', observed: expect.stringMatching(/\bmaster$/) });
    expect(facts.contents).toBeUndefined();
  } finally {
    await Promise.all([source.stop(), other.stop(), target.stop()]);
  }
}, 60_000);

test('a slot is proven by the subscription of the target, and assumed without it', async () => {
  const [pair, other] = await Promise.all([startWatchedPair(16), startTarget()]);
  const { origin } = await serverFor((_request, response) => reply(response, 200, { id: 'm-2', status: 'syncing' }));
  try {
    await makeDatabase(pair, 'shop', 'CREATE TABLE t (id int PRIMARY KEY)');
    await pair.replicate('shop');
    const api = await apiOf(origin);
    const started = { at: Date.now(), cluster: 'uuid-1', id: 'm-1', identity: {} };
    const observed = async (target: Postgres) => {
      const facts = await checkCutover(api, {
        ...options,
        source: { engine: 'postgresql', source: postgresEndpointOf(pair.source, { dbname: 'shop' }) },
        target: { engine: 'postgresql', source: postgresEndpointOf(target) },
        record: { engine: 'postgresql', source: 'x', started, before: [] },
      });
      return facts.lag?.observed;
    };
    expect(await observed(pair.target)).toContain('(proven)');
    // Another server, which has no subscription; and the record belongs to another migration than the service shows.
    expect(await observed(other)).toMatch(/shop: .*\(assumed\).*m-2.*--slot cloudctl_shop/);
  } finally {
    await Promise.all([pair.stop(), other.stop()]);
  }
}, 120_000);
