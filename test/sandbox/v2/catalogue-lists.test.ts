import { expect, it } from 'vitest';
import { callApi, sandboxFor, tokenFor } from '../requests.ts';

it.each([
  ['/v2/regions', 'nyc3'],
  ['/v2/sizes', 's-1vcpu-1gb'],
  ['/v2/images', 'ubuntu-24-04-x64'],
])('GET %s is a read-only list with %s', async (path, slug) => {
  const key = path.slice('/v2/'.length);
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const list = async (query: string) =>
    JSON.parse((await callApi(sandbox, access_token, 'GET', `${path}${query}`)).body);
  const all = await list('?per_page=200');
  expect(all[key].map((item: { slug: string }) => item.slug)).toContain(slug);
  expect(all.meta.total).toBe(all[key].length);
  const second = await list('?page=2&per_page=1');
  expect(second[key]).toEqual([all[key][1]]);
  expect((await callApi(sandbox, access_token, 'GET', `${path}?page=0`)).status).toBe(422);
  expect((await callApi(sandbox, access_token, 'POST', path, '{}')).status).toBe(405);
});
