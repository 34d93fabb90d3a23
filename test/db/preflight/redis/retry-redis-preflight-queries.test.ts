import { expect, it } from 'vitest';
import type { QueryResult } from '../../../../src/db/preflight/query.ts';
import { retryRedisQueries } from '../../../../src/db/preflight/redis/collect.ts';
import { infoQuery } from '../../../../src/db/preflight/redis/queries.ts';
import type { RedisConnection } from '../../../../src/redis/connection.ts';
import { parseRedisEndpoint } from '../../../../src/redis/endpoint.ts';
import { closedOrigin } from '../../../fixtures/fake-server.ts';

it.each([
  ['that disconnects', {}, 1],
  ['that is silent', { late: true }, 0],
])('after a server %s, the session is replaced %i times', async (_behaviour, more, times) => {
  const { port } = new URL(await closedOrigin());
  const { source } = parseRedisEndpoint({ url: `redis://127.0.0.1:${port}` });
  let ended = 0;
  const failing = () => Promise.reject(new Error('it is lost'));
  const session: RedisConnection = {
    authentication: { auth: 'open' },
    tls: undefined,
    send: failing,
    sendRaw: failing,
    end: () => {
      ended += 1;
    },
  };
  const lost: QueryResult<never> = { kind: 'failed', reason: 'INFO: lost', broke: true, ...more };
  const options = { source, context: { user: 'default' }, connect: {} };
  const retried = await retryRedisQueries(new Map([[infoQuery, lost]]), session, options);
  expect({ ended, pipelineFailure: retried.pipelineFailure }).toEqual({ ended: times, pipelineFailure: undefined });
});
