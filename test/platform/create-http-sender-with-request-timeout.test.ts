import { expect, test } from 'vitest';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import { createHttpSenderWithRequestTimeout } from '../../src/platform/waiting.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';

const call = { method: 'GET', headers: {}, redirect: 'manual' } as const;

test('a request ends at the bound, though its own deadline is far away', async () => {
  const { origin } = await serverFor(() => undefined);
  const send = createHttpSenderWithRequestTimeout(await createUndiciSender({ env: {}, fresh: true }), 100);
  await expect(send(origin, { ...call, signal: AbortSignal.timeout(60_000) })).rejects.toMatchObject({
    kind: 'timeout',
  });
});

test('an own deadline that is nearer counts, and an answer in time is an answer', async () => {
  const silent = await serverFor(() => undefined);
  const quick = await serverFor((_, response) => reply(response, 200, 'x'));
  const send = createHttpSenderWithRequestTimeout(await createUndiciSender({ env: {}, fresh: true }), 30_000);
  await expect(send(silent.origin, { ...call, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    kind: 'timeout',
  });
  const answer = await send(quick.origin, { ...call, signal: AbortSignal.timeout(30_000) });
  expect([answer.status, await answer.text()]).toEqual([200, 'x']);
});
