import { expect, it, onTestFinished } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { startCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

it('a watch that was to end by itself is come back to with the same words', async () => {
  const source = await startRedis();
  onTestFinished(() => source.stop());
  const address = `redis://${source.host}:${source.port}`;
  const watch = startCloudctl(dbTestHost(), ['db', 'watch', '--source', address, '--until-idle']);
  await watch.waitForOutput(/waiting/);
  watch.host.signal('SIGINT');
  const ran = await watch.ended;
  expect(ran.code).toBe(130);
  expect(ran.err).toContain(`cloudctl db watch --source ${address} --until-idle\``);
  expectGolden('db-watch', ran.err.replaceAll(address, 'SOURCE'));
});

it('a terminal that was closed ends a watch as it ends every command', async () => {
  const source = await startRedis();
  onTestFinished(() => source.stop());
  const watch = startCloudctl(dbTestHost(), ['db', 'watch', '--source', `redis://${source.host}:${source.port}`]);
  await watch.waitForOutput(/waiting/);
  watch.host.signal('SIGHUP');
  expect((await watch.ended).code).toBe(130);
});

it.each(['redis', 'postgres'])('the first look at a %s source that cannot be entered says why', async (scheme) => {
  const address = `${scheme}://mover@127.0.0.1:${await closedPort()}/0`;
  const ran = await startCloudctl(dbTestHost(), ['db', 'watch', '--source', address, '--disable-ssl']).ended;
  expect(ran).toMatchObject({ code: 3, out: '' });
  expectGolden('db-watch', ran.err.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'));
});
