import { expect, it } from 'vitest';
import { start } from '../ground.ts';
import { closedPort, machine } from './ground.ts';

it.each(['redis', 'postgres'])('the first look at a %s source that cannot be entered says why', async (scheme) => {
  const address = `${scheme}://mover@127.0.0.1:${await closedPort()}/0`;
  const ran = await start(machine(), ['db', 'watch', '--source', address, '--disable-ssl']).ended;
  expect(ran).toMatchObject({ code: 3, out: '' });
  expect(ran.err).toMatch(/^error: could not enter the source: connection refused/);
});
