import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { MAYA, sandboxFor, userOf } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl } from '../run-cloudctl.ts';

const spec = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };

async function accountWith(names: readonly string[]) {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox);
  const account = userOf(sandbox, MAYA).uuid;
  const created = names.flatMap((name) => sandbox.world.droplets.create(account, [name], spec));
  const ids = created.map(({ droplet }) => String(droplet.id));
  const create = (name: string) => sandbox.world.droplets.create(account, [name], spec);
  return { host, sandbox, ids, create, run: (...words: string[]) => runCloudctl(host, ['droplets', 'get', ...words]) };
}

const stable = (text: string): string => text.replaceAll(/\b\d{7,}\b/g, 'ID');

describe('droplets get', () => {
  it('shows the object of the API, by id and by name', async () => {
    const { run, ids, sandbox } = await accountWith(['a', 'b']);
    const byId = await run(ids[0] ?? '', '-o', 'json');
    expect(byId).toMatchObject({ code: 0, err: '' });
    expect(byId.json()).toMatchObject({ id: Number(ids[0]), name: 'a', networks: expect.any(Object) });
    expect((await run('a', '-o', 'json')).out).toBe(byId.out);
    expect(await recordedRequests(sandbox)).toHaveLength(3);
  });

  it.each([
    ['table', /^Name +a$/m],
    ['yaml', /^name: a$/m],
    ['csv', /,a,/],
    ['ndjson', /^\{.*"name":"a".*\}\n$/],
  ])('prints %s', async (format, pattern) => {
    const { run } = await accountWith(['a']);
    const ran = await run('a', '-o', format);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(pattern);
  });

  it.each([['nope'], ['7'], ['web-9*']])('without such a droplet is exit 1: %s', async (word) => {
    const { run } = await accountWith([]);
    const ran = await run(word);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expectGolden('droplets', ran.err);
    expect((await run(word, '-o', 'json')).error()).toMatchObject({ code: 'not_found' });
  });

  it('refuses a name of several droplets, and a number that is also a name', async () => {
    const { run, ids, create } = await accountWith(['same', 'same', 'a']);
    create(ids[2] ?? '');
    for (const [name, word] of [
      ['name', 'same'],
      ['number', ids[2] ?? ''],
    ] as const) {
      const ran = await run(word);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expectGolden('droplets', stable(ran.err), name);
    }
  });

  it.each([
    ['no argument', []],
    ['an empty one', ['']],
    ['two', ['a', 'b']],
    ['an unknown column', ['a', '--format', 'Nonsense']],
  ])('refuses %s before any request', async (_what, words) => {
    const { run, sandbox } = await accountWith([]);
    const ran = await run(...words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', ran.err);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});
