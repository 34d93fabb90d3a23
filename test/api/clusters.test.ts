import { expect, it } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { type ListedCluster, listClusters } from '../../src/api/clusters.ts';
import { CliError } from '../../src/base/errors.ts';
import { apiAnswering } from './changing-list.ts';

async function all(api: ApiClient): Promise<readonly ListedCluster[]> {
  const found: ListedCluster[] = [];
  for await (const page of listClusters(api)) found.push(...page);
  return found;
}

it('a cluster keeps what the API sent', async () => {
  const json = { id: 'c-1', name: 'orders', engine: 'pg' };
  expect(await all(apiAnswering(() => ({ databases: [json], meta: { total: 1 } })))).toEqual([
    { id: 'c-1', raw: json },
  ]);
});

it('a cluster without an id is an error', async () => {
  const api = apiAnswering(() => ({ databases: [{ name: 'orders' }], meta: { total: 1 } }));
  await expect(all(api)).rejects.toMatchObject({ code: 'api_error' });
});

it.each([
  [404, 'not_found', 'not_found'],
  [405, 'api_error', 'not_found'],
  [501, 'api_error', 'not_found'],
  [403, 'scope_too_small', 'scope_too_small'],
  [500, 'api_error', 'api_error'],
] as const)('a response with %i (%s) is %s', async (status, code, expected) => {
  const refuse = () => Promise.reject(new CliError(code, 'no', { status }));
  const api: ApiClient = { ...apiAnswering(() => ({})), success: refuse, request: refuse };
  await expect(all(api)).rejects.toMatchObject({ code: expected, status });
});
