import { expect, it } from 'vitest';
import { takeSandboxSnapshot } from '../../../src/sandbox/state/snapshot.ts';
import { admin, sandboxFor } from '../requests.ts';

it('GET /_sandbox/snapshot returns the whole state, secrets included', async () => {
  const sandbox = await sandboxFor();
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const { status, body } = await admin(sandbox, 'GET', '/_sandbox/snapshot');
  expect([status, JSON.parse(body)]).toEqual([200, takeSandboxSnapshot(sandbox.world)]);
  expect(body).toContain(sandbox.ready.client_secret);
});
