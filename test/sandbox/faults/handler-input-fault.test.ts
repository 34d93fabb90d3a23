import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { admin, callApi, sandboxFor, tokenFor } from '../requests.ts';

const path = '/v2/droplets';
interface DropletList {
  readonly droplets: readonly { readonly id: number }[];
  readonly meta: { readonly total: number };
  readonly links: object;
}

const ALIASES = { size: '1gb', image: 'ubuntu-22-04-x64', region: 'nyc1', tags: ['t'] };

async function getJson(sandbox: SandboxServers, token: string, target: string): Promise<DropletList> {
  return JSON.parse((await callApi(sandbox, token, 'GET', target)).body);
}

describe('normalize_attributes', () => {
  it('a creation stores other values than were sent, and shows them', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'normalize_attributes' });
    const created = await callApi(sandbox, access_token, 'POST', path, { names: ['a', 'b'], ...ALIASES });
    expect(created.status).toBe(202);
    const stored = { size_slug: 's-1vcpu-1gb', region: { slug: 'nyc3' }, image: { slug: 'ubuntu-24-04-x64' } };
    expect(JSON.parse(created.body).droplets).toMatchObject([stored, stored]);
    expect((await getJson(sandbox, access_token, `${path}?tag_name=t`)).droplets).toMatchObject([stored, stored]);
    expect(sandbox.requests(`POST ${path}`)).toMatchObject([{ fault: 'normalize_attributes', committed: true }]);
    const next = await callApi(sandbox, access_token, 'POST', path, { name: 'c', ...ALIASES });
    expect(JSON.parse(next.body).droplet).toMatchObject({ size_slug: '1gb', region: { slug: 'nyc1' } });
  });

  it('applies in addition to a fault that loses the response', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'normalize_attributes' });
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'bad_json' });
    await callApi(sandbox, access_token, 'POST', path, { name: 'a', ...ALIASES });
    expect((await getJson(sandbox, access_token, `${path}?name=a`)).droplets).toMatchObject([
      { region: { slug: 'nyc3' } },
    ]);
    expect(sandbox.requests(`POST ${path}`)).toMatchObject([{ fault: 'bad_json', committed: true }]);
  });
});

describe('lag_lists', () => {
  it('lists show a droplet, by name, tag and as a whole, once it is old enough; GET by id shows it at once', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    sandbox.faults.add({ match: { method: 'GET', path }, action: 'lag_lists', delay: 10_000, times: 6 });
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 20_000 });
    const { droplet } = JSON.parse(
      (await callApi(sandbox, access_token, 'POST', path, { name: 'new', ...ALIASES })).body,
    );
    const lists = async (): Promise<readonly unknown[]> => {
      const answers = [];
      for (const query of ['?name=new', '?tag_name=t', '?per_page=3']) {
        const { droplets, meta, links } = await getJson(sandbox, access_token, `${path}${query}`);
        answers.push([droplets.filter(({ id }) => id === droplet.id).length, meta.total, links]);
      }
      return answers;
    };
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 9_999 });
    expect(await lists()).toEqual([
      [0, 0, {}],
      [0, 0, {}],
      [0, 3, {}],
    ]);
    expect((await callApi(sandbox, access_token, 'GET', `${path}/${droplet.id}`)).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 1 });
    expect(await lists()).toMatchObject([
      [1, 1, {}],
      [1, 1, {}],
      [0, 4, { pages: {} }],
    ]);
    expect(sandbox.faults.list()).toMatchObject([{ applied: 6, remaining: 0 }]);
  });

  it('without the fault a list is complete, also when the clock was moved back', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    await callApi(sandbox, access_token, 'POST', path, { name: 'new', ...ALIASES });
    await admin(sandbox, 'POST', '/_sandbox/clock', { set: '2020-01-01T00:00:00Z' });
    const { access_token: other } = await tokenFor(sandbox);
    expect((await getJson(sandbox, other, path)).meta.total).toBe(4);
  });
});
