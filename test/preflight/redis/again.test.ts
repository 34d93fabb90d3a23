import { expect, it } from 'vitest';
import { askAgain } from '../../../src/preflight/redis/again.ts';
import type { Answer } from '../../../src/preflight/redis/ask.ts';
import { info } from '../../../src/preflight/redis/asks/info.ts';
import type { RedisSession } from '../../../src/redis/connection.ts';
import { readSource } from '../../../src/redis/source.ts';
import { closedOrigin } from '../../fixtures/broken-server.ts';

it.each([
  ['cut off', {}, 1],
  ['silent', { late: true }, 0],
])('a connection whose server was %s is ended for another one %s: %i times', async (_how, more, times) => {
  const { port } = new URL(await closedOrigin());
  const { source } = readSource({ url: `redis://127.0.0.1:${port}` });
  let ended = 0;
  const unasked = () => Promise.reject(new Error('it is lost'));
  const session: RedisSession = {
    entered: { auth: 'open' },
    tls: undefined,
    send: unasked,
    sendRaw: unasked,
    end: () => {
      ended += 1;
    },
  };
  const lost: Answer<never> = { kind: 'failed', reason: 'INFO: lost', broke: true, ...more };
  const asking = { source, context: { user: 'default' }, signal: new AbortController().signal, heard: () => {} };
  const again = await askAgain(new Map([[info, lost]]), session, asking);
  expect({ ended, relented: again.relented }).toEqual({ ended: times, relented: undefined });
});
