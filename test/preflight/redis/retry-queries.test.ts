import { expect, it } from 'vitest';
import { infoQuery } from '../../../src/preflight/redis/queries/info.ts';
import type { RedisQueryResult } from '../../../src/preflight/redis/query.ts';
import { retryQueries } from '../../../src/preflight/redis/retry-queries.ts';
import type { RedisSession } from '../../../src/redis/connection.ts';
import { parseRedisSource } from '../../../src/redis/source.ts';
import { closedOrigin } from '../../fixtures/broken-server.ts';

it.each([
  ['cut off', {}, 1],
  ['silent', { late: true }, 0],
])('a connection whose server was %s is ended for another one %s: %i times', async (_how, more, times) => {
  const { port } = new URL(await closedOrigin());
  const { source } = parseRedisSource({ url: `redis://127.0.0.1:${port}` });
  let ended = 0;
  const unasked = () => Promise.reject(new Error('it is lost'));
  const session: RedisSession = {
    authentication: { auth: 'open' },
    tls: undefined,
    send: unasked,
    sendRaw: unasked,
    end: () => {
      ended += 1;
    },
  };
  const lost: RedisQueryResult<never> = { kind: 'failed', reason: 'INFO: lost', broke: true, ...more };
  const asking = { source, context: { user: 'default' }, signal: new AbortController().signal, heard: () => {} };
  const again = await retryQueries(new Map([[infoQuery, lost]]), session, asking);
  expect({ ended, relented: again.pipelineFailure }).toEqual({ ended: times, relented: undefined });
});
