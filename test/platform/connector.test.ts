import { expect, it } from 'vitest';
import { probeOrigin } from '../../src/platform/connector.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/fake-server.ts';

it('a server that accepts connections passes, without a request', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
  await probeOrigin(origin, {}, 5_000);
  expect(seen).toHaveLength(0);
});

it.each([
  ['a closed port', closedOrigin],
  ['a name that does not exist', async () => 'http://server.invalid'],
])('%s is a connection error', async (_, origin) => {
  await expect(probeOrigin(await origin(), {}, 5_000)).rejects.toMatchObject({ name: 'SendError', sent: false });
});
