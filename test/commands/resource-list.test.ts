import { describe, expect, it } from 'vitest';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { testHost } from '../fixtures/host.ts';
import { runCloudctl, startCloudctl } from './run-cloudctl.ts';

interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly status: string;
}

/** A server whose list of droplets the test changes between two reads; undefined: it answers 503. */
async function serverWith(first: readonly Droplet[]) {
  const state: { droplets: readonly Droplet[] | undefined; reads: number } = { droplets: first, reads: 0 };
  const server = await serverFor(({ url }, response) => {
    const { droplets } = state;
    const [, id] = /^\/v2\/droplets\/(\d+)$/.exec(url) ?? [];
    if (droplets === undefined) return reply(response, 503, { id: 'unavailable', message: 'later' });
    if (id === undefined) {
      state.reads += 1;
      return reply(response, 200, { droplets, meta: { total: droplets.length } });
    }
    const droplet = droplets.find((one) => one.id === Number(id));
    return droplet === undefined
      ? reply(response, 404, { id: 'not_found', message: 'no' })
      : reply(response, 200, { droplet });
  });
  const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin, TZ: 'UTC' } });
  const nextRead = async (): Promise<void> => {
    const { reads } = state;
    while (state.reads < reads + 2) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { host, state, nextRead };
}

const web = { id: 1, name: 'web', status: 'new' };
const db = { id: 2, name: 'db', status: 'active' };
const words = ['droplets', 'list', '--watch', '--interval', '1s'];

describe('--watch without a terminal', () => {
  it('prints the list, then a row for each change; Ctrl-C ends it with 130 and without an error', async () => {
    const { host, state, nextRead } = await serverWith([web, db]);
    const started = startCloudctl(host, [...words, '--format', 'ID,Name,Status']);
    await started.waitForOutput(/db/);
    await nextRead();
    state.droplets = [{ ...web, status: 'active' }, db, { id: 3, name: 'new', status: 'new' }];
    await started.waitForOutput(/3 +new/);
    state.droplets = [
      { ...web, status: 'active' },
      { id: 3, name: 'new', status: 'new' },
    ];
    await started.waitForOutput(/deleted/);
    started.host.signal('SIGINT');
    const ran = await started.ended;
    expect([ran.code, ran.err]).toEqual([130, '']);
    const rows = ran.out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ +/));
    expect(rows).toEqual([
      ['ID', 'Name', 'Status'],
      ['1', 'web', 'new'],
      ['2', 'db', 'active'],
      ['1', 'web', 'active'],
      ['3', 'new', 'new'],
      ['2', 'db', 'deleted'],
    ]);
  });

  it('prints one object for each change as ndjson', async () => {
    const { host, state } = await serverWith([web]);
    const started = startCloudctl(host, [...words, '-o', 'ndjson']);
    await started.waitForOutput(/web/);
    state.droplets = [{ ...web, status: 'active' }];
    await started.waitForOutput(/active/);
    state.droplets = [];
    await started.waitForOutput(/deleted/);
    started.host.signal('SIGTERM');
    const ran = await started.ended;
    expect(ran.code).toBe(143);
    const statuses = ran.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).status);
    expect(statuses).toEqual(['new', 'active', 'deleted']);
  });

  it('a droplet that no longer matches the filter is printed as it is now', async () => {
    const { host, state } = await serverWith([web, db]);
    const started = startCloudctl(host, [...words, 'w*', '-o', 'ndjson', '--format', 'Name,Status']);
    await started.waitForOutput(/web/);
    state.droplets = [{ ...web, name: 'renamed' }, db];
    await started.waitForOutput(/renamed/);
    started.host.signal('SIGINT');
    expect((await started.ended).out).toBe('{"Name":"web","Status":"new"}\n{"Name":"renamed","Status":"new"}\n');
  });

  it('a read that fails is repeated; several in a row are the error', async () => {
    const { host, state, nextRead } = await serverWith([web]);
    const started = startCloudctl(host, [...words, '-o', 'ndjson']);
    await started.waitForOutput(/web/);
    state.droplets = undefined;
    await new Promise((resolve) => setTimeout(resolve, 20));
    state.droplets = [{ ...web, status: 'active' }];
    await nextRead();
    state.droplets = undefined;
    const ran = await started.ended;
    expect(ran.code).toBe(1);
    expect(ran.error().code).toBe('api_error');
    expect(ran.out.trimEnd().split('\n')).toHaveLength(2);
  });
});

it('on a terminal the table is redrawn, and the last one stays', async () => {
  const { host, state } = await serverWith([web]);
  const started = startCloudctl(host, words, { terminal: 80, env: { ...host.env, NO_COLOR: '1' } });
  await started.waitForOutput(/web/);
  state.droplets = [{ ...web, status: 'active' }];
  await started.waitForOutput(/active/);
  started.host.signal('SIGINT');
  const ran = await started.ended;
  expect(ran.code).toBe(130);
  const [screens = '', after = ''] = ran.out.split('\u001b[?1049l');
  expect(screens.startsWith('\u001b[?1049h')).toBe(true);
  expect(screens.split('\u001b[H').length).toBeGreaterThan(2);
  expect(after.trimEnd().split('\n')[1]).toMatch(/^1 +web +active$/);
});

it('hostile text of the server stays text', async () => {
  const { host } = await serverWith([{ ...web, name: 'a\u001b]0;b\u0007\nc' }]);
  const started = startCloudctl(host, [...words, '--format', 'Name']);
  await started.waitForOutput(/a c/);
  started.host.signal('SIGINT');
  expect((await started.ended).out).toBe('Name\na c\n');
});

it.each([
  [['droplets', 'list', '--interval', '1s']],
  [['droplets', 'list', '--watch', '--interval', '0s']],
  [['droplets', 'list', '--watch', '-o', 'json']],
  [['droplets', 'list', '--watch', '-o', 'yaml']],
  [['actions', 'list', '--watch', '--query', '[]']],
  [['actions', 'list', '--watch', '--format', 'Nope']],
])('%j is refused before any request', async (line) => {
  const { host, state } = await serverWith([web]);
  expect((await runCloudctl(host, line)).code).toBe(2);
  expect(state.reads).toBe(0);
});
