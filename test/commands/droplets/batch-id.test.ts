import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tryAcquire } from '../../../src/platform/locks.ts';
import { fastClock } from '../../droplets/batch-fixtures.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

const like = ['--size', 's', '--image', 'i'];
const create = (...args: readonly string[]) => ['droplets', 'create', ...args, ...like];

interface Stored {
  readonly id: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly created_at: string;
}

interface Row {
  readonly name: string;
  readonly status: string;
}

/** A server with an account, and a machine that waits little. @param copies droplets that the server creates for a name */
async function account(copies: Readonly<Record<string, number>> = {}, { hidesTags = false } = {}) {
  const droplets: Stored[] = [];
  let refusals = 0;
  const { origin, seen } = await serverFor((request, response) => {
    const query = new URL(request.url, 'http://server').searchParams;
    const [name, tag] = [query.get('name'), query.get('tag_name')];
    if (request.method === 'POST') {
      if (refusals > 0) {
        refusals -= 1;
        return reply(response, 403, { message: 'no' });
      }
      const sent: { name?: string; names?: string[]; tags?: string[] } = JSON.parse(request.body);
      const created = (sent.names ?? [sent.name ?? '']).flatMap((one) =>
        Array.from({ length: copies[one] ?? 1 }, () => {
          const droplet = {
            id: 100 + droplets.length,
            name: one,
            tags: hidesTags ? [] : (sent.tags ?? []),
            created_at: now(),
          };
          droplets.push(droplet);
          return droplet;
        }),
      );
      return reply(response, 202, { droplets: created });
    }
    if (request.url === '/v2/account') return reply(response, 200, { account: { uuid: 'u', team: null } });
    const id = /^\/v2\/droplets\/(\d+)$/.exec(request.url)?.[1];
    const withId = droplets.find((one) => String(one.id) === id);
    if (id !== undefined) return reply(response, withId === undefined ? 404 : 200, { droplet: withId });
    const shown = droplets
      .filter((one) => name === null || one.name === name)
      .filter(({ tags }) => tag === null || tags.includes(tag));
    return reply(response, 200, { droplets: shown, meta: { total: shown.length } });
  });
  const env = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin };
  const host = { ...testHost({ env }), clock: fastClock(2_000) };
  return {
    host,
    droplets,
    run: (args: readonly string[]) => runCloudctl(host, args),
    posts: () => seen.filter(({ method }) => method === 'POST').length,
    refuse: (count: number) => {
      refusals = count;
    },
    batches: join(host.folders.state, 'batches'),
  };
}

function now(): string {
  return new Date().toISOString();
}

/** What was printed on stderr, without what differs from run to run. */
function messages(err: string): string {
  return (
    err
      .replace(/^\d+\/\d+ created.*\n/gm, '')
      // After 10 s of silence, which are 5 ms of the fast clock.
      .replace(/^still .*\n/gm, '')
      // A second passes in half a millisecond of the fast clock.
      .replaceAll(/; this takes up to (?:[1-9]|[12]\d|30) s\./g, '; this takes up to 30 s.')
      .replaceAll(/[^\s`]+\/batches\/[\w-]+\.jsonl/g, 'LEDGER')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://SERVER')
  );
}

describe('droplets create --batch-id', () => {
  it('says what it looks up, and which droplets of the batch it found', async () => {
    const { run, posts } = await account();
    const first = await run(create('a', 'b', '--batch-id', 'Nightly'));
    const again = await run(create('a', 'b', '--batch-id', 'nightly'));
    expect([first.code, again.code, posts()]).toEqual([0, 0, 1]);
    expectGolden('droplets-batch-id', messages(first.err), 'first');
    expectGolden('droplets-batch-id', messages(again.err), 'again');
  });

  it('refuses other names and attributes, and says which', async () => {
    const { run, posts, batches } = await account();
    await run(create('a', 'b', '--batch-id', 'x'));
    const files = readdirSync(batches);
    for (const args of [create('a', 'c', '--batch-id', 'x'), create('a', 'b', 'c', '--batch-id', 'x')]) {
      const ran = await run(args);
      expect(ran.code).toBe(2);
      expectGolden('droplets-batch-id', messages(ran.err), args.join(' '));
    }
    expect(posts()).toBe(1);
    expect(readdirSync(batches)).toEqual(files);
  });

  it('is exit 1 while another process of this machine runs the batch', async () => {
    const { run, batches } = await account();
    await run(create('a', '--batch-id', 'x'));
    const [ledger = ''] = readdirSync(batches).filter((name) => name.endsWith('.jsonl'));
    const lock = tryAcquire(join(batches, `${ledger}.lock`));
    const ran = await run(create('a', '--batch-id', 'x', '-o', 'json'));
    lock?.release();
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'busy' } });
  });

  it('names the droplets of a name that was created twice, and is exit 5', async () => {
    const { run, posts } = await account({ b: 2 });
    expect((await run(create('a', '--batch-id', 'x', '--if-exists', 'skip'))).code).toBe(0);
    const ran = await run(create('b', 'c', '--batch-id', 'y'));
    expect(ran.code).toBe(5);
    expectGolden('droplets-batch-id', messages(ran.err), 'created twice');
    const before = posts();
    expect((await run(create('b', 'c', '--batch-id', 'y'))).code).toBe(5);
    expect(posts()).toBe(before);
  });

  it('creates what is missing on a machine without the ledger', async () => {
    const { run, batches, droplets } = await account({ b: 2 });
    expect((await run(create('a', 'b', '--batch-id', 'x'))).code).toBe(5);
    // The other machine has none of the ledgers, and one droplet is missing.
    rmSync(batches, { recursive: true });
    droplets.splice(0, 1);
    droplets.splice(0, 1);
    const ran = await run(create('a', 'b', '--batch-id', 'x'));
    expect(ran.code).toBe(0);
    // Whether it waits at the end depends on the time that the run took: 150 s are 75 ms here.
    expectGolden('droplets-batch-id', messages(ran.err).replace(/^Requests may .*\n/m, ''));
  });

  it('says when the server does not show the tags, and creates nothing again', async () => {
    const { run, posts } = await account({}, { hidesTags: true });
    const ran = await run(create('a', '--batch-id', 'x'));
    expect(ran.code).toBe(0);
    expectGolden('droplets-batch-id', messages(ran.err));
    expect((await run(create('a', '--batch-id', 'x'))).code).toBe(2);
    expect(posts()).toBe(1);
  });

  it('prints its requests offline with --dry-run, with the same tags every time', async () => {
    const host = testHost();
    const args = [...create('a', 'b', '--batch-id', 'x', '--set', 'tags=["web"]'), '--dry-run', '-o', 'json'];
    const [first, second] = [await runCloudctl(host, args), await runCloudctl(host, args)];
    expect(first.code).toBe(0);
    expect(first.json()).toEqual(second.json());
    expect(first.json()).toMatchObject([
      { body: { tags: ['web', 'cloudctl:x', expect.stringMatching(/^cloudctl:x:[0-9a-f]{12}$/)] } },
    ]);
  });

  it.each([
    [['--batch-id', 'a b']],
    [['--batch-id', '']],
    [['--batch-id', 'x'.repeat(65)]],
    [['--batch-id', 'x', '--resume', 'f']],
    [['--ledger', 'f', '--resume', 'f']],
    [['--plan', '--dry-run']],
    [['--batch-id', 'x', '--set', 'tags=7']],
  ])('refuses %j', async (options) => {
    const ran = await runCloudctl(testHost(), create('a', ...options));
    expect(ran.code).toBe(2);
    expectGolden('droplets-batch-id', ran.err);
  });
});

describe('droplets create --ledger with --batch-id', () => {
  it('looks for duplicates at the end of a resumed batch', async () => {
    const { run, refuse, host } = await account({ b: 2 });
    refuse(1);
    const ledger = join(host.place.work, 'l.jsonl');
    const first = await run(
      create('a', 'b', '--batch-id', 'v1.2', '--ledger', ledger, '--batch-size', '1', '--concurrency', '1'),
    );
    expect(first.code).toBe(4);
    const ran = await run(['droplets', 'create', '--resume', ledger]);
    expect(ran.code).toBe(5);
    expectGolden('droplets-batch-id', messages(ran.err).replaceAll(ledger, 'LEDGER'));
  });
});

describe('droplets create --ledger', () => {
  it('refuses other names and a file of something else', async () => {
    const { run, host, posts } = await account();
    const ledger = join(host.place.work, 'l.jsonl');
    expect((await run(create('a', '--ledger', ledger))).code).toBe(0);
    const other = await run(create('b', '--ledger', ledger));
    expect(other.code).toBe(2);
    expectGolden('droplets-batch-id', other.err.replaceAll(ledger, 'LEDGER'));
    const before = posts();
    const text = join(host.place.work, 'text');
    mkdirSync(join(text, 'folder'), { recursive: true });
    expect((await run(create('a', '--ledger', text))).code).toBe(2);
    copyFileSync(new URL(import.meta.url), join(text, 'source.ts'));
    expect((await run(create('a', '--ledger', join(text, 'source.ts')))).code).not.toBe(0);
    expect(posts()).toBe(before);
  });
});

describe('droplets create --plan', () => {
  it('prints a table', async () => {
    const { run, posts, droplets, batches } = await account();
    await run(create('a', 'b', '--batch-id', 'x'));
    droplets.splice(1, 1);
    const planned = await run([...create('a', 'b', '--batch-id', 'x'), '--plan']);
    expect(planned.code).toBe(0);
    expectGolden('droplets-batch-id', planned.out);
    expect(posts()).toBe(1);
    rmSync(batches, { recursive: true });
    const rows = (await run([...create('a', 'b', '--batch-id', 'x'), '--plan', '-o', 'json'])).json<Row[]>();
    expect(rows.map(({ status }) => status)).toEqual(['exists', 'create']);
    expect(readdirSync(join(batches, '..'))).not.toContain('batches');
  });

  it('refuses columns that a plan does not have', async () => {
    const { run } = await account();
    expect((await run([...create('a'), '--plan', '--format', 'ActionID'])).code).toBe(2);
  });
});
