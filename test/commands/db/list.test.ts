import { describe, expect, it } from 'vitest';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { sandboxFor, TOMAS, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

describe('the clusters', () => {
  it('of the account are listed', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox, { scope: 'read' });
    const host = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token });
    const ran = await runCloudctl(host, ['db', 'list', '--format', 'ID,Name,Engine,Version', '-o', 'json']);
    const [pg, redis] = sandbox.ready.clusters;
    expect([ran.code, ran.json()]).toEqual([
      0,
      [
        { ID: pg?.uuid, Name: 'orders', Engine: 'pg', Version: '17' },
        { ID: redis?.uuid, Name: 'cache', Engine: 'redis', Version: '7' },
      ],
    ]);
  });

  it('of another account are not', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS });
    const host = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token });
    const ran = await runCloudctl(host, ['db', 'list', '-o', 'json']);
    expect([ran.code, ran.json()]).toEqual([0, []]);
  });
});

it.each([
  [404, 'no_such_path'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [501, 'not_implemented'],
])('a service that answers %i %s has no list, and that is said', async (status, id) => {
  const { origin } = await serverFor(({ url }, response) =>
    url.startsWith('/v2/actions')
      ? reply(response, 200, { actions: [] })
      : reply(response, status, { id, message: 'no' }),
  );
  const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  const ran = await runCloudctl(host, ['db', 'list']);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expectGolden('db-follow', ran.err);
});
