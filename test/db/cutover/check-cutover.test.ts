import { expect, test } from 'vitest';
import { checkCutover } from '../../../src/db/cutover/check-cutover.ts';
import { cutoverChecklist } from '../../../src/db/cutover/cutover-checklist.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { apiOf } from '../../api/api-of.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { eventually, startRedis } from '../../fixtures/redis.ts';
import { redisEndpointOf } from '../engine/servers.ts';

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
      onCheck: (what) => what === 'comparing the contents' && onContents(),
    });
    return Object.fromEntries(cutoverChecklist(facts).map(({ id, state }) => [id, state]));
  };
  try {
    source.cli('SET', 'a', '1');
    target.cli('REPLICAOF', source.host, String(source.port));
    await eventually(() => target.cli('GET', 'a').trim() === '1', 'the copy');
    expect(await check()).toEqual({ target: 'done', writes: 'done', lag: 'done', contents: 'done', stopped: 'open' });
    onContents = () => void source.cli('SET', 'b', '1');
    expect(await check()).toMatchObject({ target: 'done', writes: 'open', lag: 'done' });
    onContents = () => {};
    await eventually(() => target.cli('GET', 'b').trim() === '1', 'the write');
    target.cli('REPLICAOF', 'NO', 'ONE');
    status = 'canceled';
    expect(await check()).toEqual({ target: 'done', writes: 'done', lag: 'done', contents: 'done', stopped: 'done' });
    target.cli('SET', 'a', '2');
    expect(await check()).toEqual({
      target: 'done',
      writes: 'done',
      lag: 'unknown',
      contents: 'open',
      stopped: 'done',
    });
  } finally {
    await Promise.all([source.stop(), target.stop()]);
  }
}, 90_000);
