import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDropletCreationProven } from '../../src/batch/single-droplet-creation.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { fastClock } from './batch-fixtures.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

function filesOf({ place }: TestHost): readonly string[] {
  const folder = join(place.state, 'batches');
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function loggedIn(clock = testHost().clock) {
  const [host, sandbox] = [{ ...testHost(), clock }, await sandboxFor()];
  await seedSession(host, sandbox, { scope: 'read write' });
  return {
    host,
    sandbox,
    create: (...words: string[]) => runCloudctl(host, ['droplets', 'create', ...words, ...like]),
  };
}

async function withServer(post: RequestHandler) {
  const { origin } = await serverFor((seen, response) =>
    seen.method === 'GET' ? reply(response, 200, { droplets: [], meta: { total: 0 } }) : post(seen, response, 0),
  );
  const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
  return { ...host, clock: fastClock() };
}

describe('a plain creation of one name', () => {
  it.each(['json', 'ndjson', 'table'])('leaves no file and names none (%s)', async (format) => {
    const { host, create } = await loggedIn();
    const ran = await create('a', '-o', format);
    expect(ran.code).toBe(0);
    expect(filesOf(host)).toEqual([]);
    expect(`${ran.out}${ran.err}`).not.toMatch(/ledger|batches/);
  });

  it('leaves no file when the name is skipped', async () => {
    const { host, create } = await loggedIn();
    await create('a');
    expect(await create('a', '--if-exists', 'skip')).toMatchObject({ code: 0 });
    expect(filesOf(host)).toEqual([]);
  });

  it('keeps the file and prints its path when the server refuses the name', async () => {
    const { host, create } = await loggedIn();
    const ran = await create('a', '--region', 'moon1');
    expect(ran.code).toBe(1);
    const path = /^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '';
    expect(existsSync(path)).toBe(true);
    expect(filesOf(host)).not.toEqual([]);
    const json = await create('b', '--region', 'moon1', '-o', 'json');
    const [row] = json.json<{ ledger: string }[]>();
    expect(existsSync(row?.ledger ?? '')).toBe(true);
  });

  it('keeps the file when the result is unknown', async () => {
    const host = await withServer((_, response) => reply(response, 202, { droplet: { id: 1, name: 'other' } }));
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like]);
    expect(ran.code).toBe(5);
    expect(existsSync(/^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '')).toBe(true);
  });

  it('prints the file of --ledger, --mark and --batch-id first, and keeps it', async () => {
    const { host, create } = await loggedIn(fastClock());
    const file = join(host.place.home, 'batch.jsonl');
    for (const words of [
      ['x', '--ledger', file],
      ['y', '--mark'],
      ['z', '--batch-id', 'nightly'],
    ]) {
      const ran = await create(...words);
      expect(ran.code).toBe(0);
      expect(existsSync(/^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '')).toBe(true);
    }
  });
});

it('a droplet without an action may have been found by a lookup: it is not proven', () => {
  expect(isDropletCreationProven({ name: 'a', status: 'created', id: 1 })).toBe(false);
  expect(isDropletCreationProven({ name: 'a', status: 'created', id: 1, action_id: 2 })).toBe(true);
  expect(isDropletCreationProven({ name: 'a', status: 'unknown', error: 'x' })).toBe(false);
});
