import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { admin, callApi, MAYA, sandboxFor, send, tokenFor, userOf } from '../requests.ts';

describe('lists are paged', () => {
  it('links.pages stays on the origin and keeps the filters', async () => {
    const sandbox = await sandboxFor();
    grow(sandbox, 47);
    const { access_token } = await tokenFor(sandbox);
    const first = JSON.parse(
      (await callApi(sandbox, access_token, 'GET', '/v2/droplets?tag_name=many&per_page=10')).body,
    );
    expect(first.meta).toEqual({ total: 47 });
    expect(Object.keys(first.links.pages)).toEqual(['next', 'last']);
    expect(first.links.pages.last).toBe(`${sandbox.ready.base_url}/v2/droplets?tag_name=many&per_page=10&page=5`);
    const seen: number[] = [];
    let next: string | undefined = `${sandbox.ready.base_url}/v2/droplets?tag_name=many&per_page=10`;
    while (next !== undefined) {
      const { pathname, search } = new URL(next);
      const page = JSON.parse((await callApi(sandbox, access_token, 'GET', `${pathname}${search}`)).body);
      seen.push(...page.droplets.map(({ id }: { id: number }) => id));
      next = page.links.pages.next;
    }
    expect(new Set(seen).size).toBe(47);
  });

  it('a middle page has four links, the last page first and prev, a single page none', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const links = async (query: string): Promise<readonly string[]> => {
      const body = JSON.parse((await callApi(sandbox, access_token, 'GET', `/v2/actions?${query}`)).body);
      return Object.keys(body.links.pages ?? {});
    };
    expect(await links('per_page=1&page=2')).toEqual(['first', 'prev', 'next', 'last']);
    expect(await links('per_page=1&page=3')).toEqual(['first', 'prev']);
    const { links: none } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/actions?per_page=3')).body);
    expect(none).toEqual({});
  });

  it('next and last contain page=, on the origin that the client used', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const host = `localhost:${new URL(sandbox.ready.base_url).port}`;
    const answer = await send(sandbox.ready.base_url, '/v2/droplets?per_page=2', {
      headers: { authorization: `Bearer ${access_token}`, host },
    });
    expect(JSON.parse(answer.body).links.pages).toEqual({
      next: `http://${host}/v2/droplets?per_page=2&page=2`,
      last: `http://${host}/v2/droplets?per_page=2&page=2`,
    });
  });

  it('20 by default, 200 at most', async () => {
    const sandbox = await sandboxFor();
    grow(sandbox, 300);
    const { access_token } = await tokenFor(sandbox);
    const count = async (query: string): Promise<number> =>
      JSON.parse((await callApi(sandbox, access_token, 'GET', `/v2/droplets${query}`)).body).droplets.length;
    expect(await count('')).toBe(20);
    expect(await count('?per_page=200')).toBe(200);
    expect(await count('?per_page=200&page=2')).toBe(103);
    expect(await count('?per_page=200&page=3')).toBe(0);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=1.5',
    'page=1e1',
    'per_page=0',
    'per_page=201',
    'per_page=',
    'page=1&page=1',
    'page=99999999999999999',
  ])('%s is 422 or the default', async (query) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answer = await callApi(sandbox, access_token, 'GET', `/v2/droplets?${query}`);
    expect(answer.status).toBe(query === 'per_page=' ? 200 : 422);
  });

  it('100 000 droplets are read page by page with flat memory', { timeout: 60_000 }, async () => {
    const sandbox = await sandboxFor();
    grow(sandbox, 100_000);
    const { access_token } = await tokenFor(sandbox);
    const ids = new Set<number>();
    let peak = 0;
    const before = process.memoryUsage().heapUsed;
    for (let page = 1; page <= 501; page += 20) {
      const { droplets, meta } = JSON.parse(
        (await callApi(sandbox, access_token, 'GET', `/v2/droplets?per_page=200&page=${page}`)).body,
      );
      expect(meta.total).toBe(100_003);
      for (const { id } of droplets) ids.add(id);
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    expect(ids.size).toBe(25 * 200 + 3);
    expect(peak).toBeLessThan(200 * 1024 * 1024);
    await admin(sandbox, 'POST', '/_sandbox/reset');
  });
});

function grow(sandbox: SandboxServers, count: number): void {
  const names = Array.from({ length: count }, (_, index) => `n-${index}`);
  sandbox.world.droplets.create(userOf(sandbox, MAYA).uuid, names, {
    region: 'fra1',
    size: 's-1vcpu-1gb',
    image: 155_133_621,
    tags: ['many'],
    features: [],
  });
}
