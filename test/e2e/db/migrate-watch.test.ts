import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatusSample } from '../../../src/db/watch/sample.ts';
import { startSource, startTarget } from '../../db/engine/servers.ts';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';

let folders: Folders;
beforeAll(() => {
  folders = makeFolders();
});
afterAll(() => folders.remove());

/** A source with something to copy, its options, and the address of an empty target. */
interface Pair {
  readonly source: readonly string[];
  readonly target: string;
  readonly password: string;
  stop(): Promise<void>;
}

async function openPostgresql(): Promise<Pair> {
  const [source, target] = await Promise.all([startSource({ version: 17 }), startTarget({ version: 18 })]);
  await source.query('CREATE DATABASE shop');
  await source.query('CREATE TABLE orders (id int PRIMARY KEY, note text)', 'shop');
  await source.query("INSERT INTO orders SELECT i, 'x' FROM generate_series(1, 5000) i", 'shop');
  return {
    source: ['--source', `postgres://postgres@127.0.0.1:${source.port}/shop`, '--disable-ssl'],
    target: `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`,
    password: source.password,
    stop: async () => void (await Promise.all([source.stop(), target.stop()])),
  };
}

async function openRedis(): Promise<Pair> {
  const [source, target] = await Promise.all([startRedis(), startRedis()]);
  source.cli('DEBUG', 'POPULATE', '5000');
  return {
    source: ['--source', `redis://127.0.0.1:${source.port}`, '--disable-ssl'],
    target: `redis://127.0.0.1:${target.port}`,
    password: '',
    stop: async () => void (await Promise.all([source.stop(), target.stop()])),
  };
}

test.each([
  ['PostgreSQL', openPostgresql],
  ['Redis', openRedis],
])('db migrate --watch --until-idle of a plain %s knows its own migration without --slot', async (_engine, open) => {
  const pair = await open();
  try {
    const sandbox = await sandboxFor({ clusters: [{ name: 'moved', url: pair.target }] });
    const { access_token: token } = await tokenFor(sandbox);
    const cluster = sandbox.ready.clusters.find(({ name }) => name === 'moved')?.uuid ?? '';
    const env = {
      CLOUDCTL_BASE_URL: sandbox.ready.base_url,
      CLOUDCTL_ACCESS_TOKEN: token,
      PGPASSWORD: pair.password,
    };
    const words = ['db', 'migrate', cluster, ...pair.source, '--skip-preflight', '--watch', '--until-idle'];
    const ran = await run([...words, '--interval', '1s', '-o', 'ndjson'], { folders, env, limit: 90_000 });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    const last: StatusSample = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ phase: 'streaming', percent: 100, lag_bytes: 0, violations: [] });
    expect(['proven', 'inferred']).toContain(last.identified_by?.grade);
  } finally {
    await pair.stop();
  }
});
