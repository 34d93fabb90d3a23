import { expect, it } from 'vitest';
import { requestStop } from '../../src/api/stop-online-migration.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { apiOf } from './api-of.ts';
import { workLoginHints } from './login-hints.ts';

const migration = { id: 'm-1', status: 'running', readAt: 0, raw: { id: 'm-1', status: 'running' } };

it('a migration without an id is stopped by the path of its cluster', async () => {
  const { origin, seen } = await serverFor(({ method }, response) =>
    method === 'DELETE' ? reply(response, 204) : reply(response, 200, { status: 'canceled' }),
  );
  const { id: _id, ...unnamed } = migration;
  const stopped = await requestStop(await apiOf(origin), 'uuid-1', unnamed, workLoginHints);
  expect(stopped.status).toBe('canceled');
  expect(seen[0]?.url).toBe('/v2/databases/uuid-1/online-migration');
});

it('one that the service no longer shows after a success is stopped', async () => {
  const { origin } = await serverFor(({ method }, response) =>
    method === 'DELETE' ? reply(response, 204) : reply(response, 500, {}),
  );
  const stopped = await requestStop(await apiOf(origin), 'uuid-1', migration, workLoginHints);
  expect(stopped).toMatchObject({ id: 'm-1', status: 'stopped' });
});

it('another migration, which runs since then, is not stopped', async () => {
  const { origin, seen } = await serverFor(({ method, url }, response) => {
    if (url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
    return method === 'DELETE'
      ? reply(response, 404, { id: 'not_found' })
      : reply(response, 200, { id: 'm-2', status: 'running' });
  });
  await expect(requestStop(await apiOf(origin), 'uuid-1', migration, workLoginHints)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(seen.filter(({ method }) => method === 'DELETE').map(({ url }) => url)).toEqual([
    '/v2/databases/uuid-1/online-migration/m-1',
  ]);
});
