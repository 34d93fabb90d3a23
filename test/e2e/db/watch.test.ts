import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatusSample } from '../../../src/db/watch/sample.ts';
import { makeDatabase, startWatchedPair, type WatchedPair } from '../../db/watch/watched-pair.ts';
import { type RunOptions, run, start } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { expectSchema } from '../../fixtures/output-schemas.ts';
import { isPinnedTransaction } from '../../fixtures/pin-rules.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { terminal } from '../../fixtures/terminal.ts';

let folders: Folders;
let pair: WatchedPair;

beforeAll(async () => {
  folders = makeFolders();
  pair = await startWatchedPair(17);
  await makeDatabase(pair, 'shop', 'CREATE TABLE orders (id int PRIMARY KEY, t text)');
  await pair.source.query(
    "INSERT INTO orders SELECT i, repeat('x', 200) FROM generate_series(1, 5000) i; ANALYZE",
    'shop',
  );
  await pair.source.query("ALTER SYSTEM SET log_statement = 'all'");
  await pair.source.query("ALTER SYSTEM SET log_line_prefix = '[%a] '");
  await pair.source.query('SELECT pg_reload_conf()');
  await pair.replicate('shop');
});

afterAll(async () => {
  await pair?.stop();
  folders.remove();
});

const words = (...more: readonly string[]) => [
  'db',
  'watch',
  '--source',
  pair.source.url('shop'),
  '--disable-ssl',
  ...more,
];
const asked = (): RunOptions => ({ folders, env: { PGPASSWORD: pair.source.password }, limit: 90_000 });

test.each([
  ['a port where nobody listens', () => 'postgres://mover@127.0.0.1:1/shop', /^error: .*\bconnection refused/],
  ['a database that is not there', () => pair.source.url('nodb'), /^error: .*\bnodb\b/],
  ['a Redis that is not there', () => 'redis://127.0.0.1:1', /^error: .*\bconnection refused/],
])('%s is told at once, for nothing was ever seen of it', async (_what, url, message) => {
  const ran = await run(['db', 'watch', '--source', url(), '--disable-ssl'], asked());
  expect(ran).toMatchObject({ code: 3, stdout: '' });
  expect(ran.stderr).toMatch(message);
});

test('until nothing is left: one object a look, then exit 0, and the source was only read', async () => {
  const named = ['--slot', 'cloudctl_shop'];
  const ran = await run(words('--interval', '1s', '--until-idle', ...named, '-o', 'ndjson', '--show-queries'), asked());
  expect(ran.code).toBe(0);
  const looks = ran.stdout
    .trim()
    .split('\n')
    .map((line): StatusSample => JSON.parse(line));
  expectSchema('db-watch-1.json', looks);
  expect(looks.length).toBeGreaterThan(4);
  expect(looks.at(-1)).toMatchObject({
    phase: 'streaming',
    percent: 100,
    lag_bytes: 0,
    eta_seconds: 0,
    deadline_from: 'first_sighting',
    violations: [],
  });
  expect(looks.at(-1)?.databases.find(({ name }) => name === 'shop')).toMatchObject({
    phase: 'streaming',
    slot: 'cloudctl_shop',
    identified_by: { grade: 'proven', by: '--slot' },
    tables: [{ name: 'public.orders', state: 'done', rows_total: 5000 }],
  });
  expect(ran.stderr).toContain('cloudctl db cutover ');
  const messages = pair.source
    .log()
    .split(/\n(?=\[)/)
    .flatMap((entry) => /^\[cloudctl-watch\] LOG: {2}statement: (.*)$/s.exec(entry.trimEnd())?.[1] ?? []);
  expect(messages.length).toBeGreaterThan(10);
  expect(messages.filter((message) => !isRead(message))).toEqual([]);
  const shown = ran.stderr.replaceAll(/\s+/g, ' ');
  expect(messages.filter((message) => !shown.includes(message.replaceAll(/\s+/g, ' ').trim()))).toEqual([]);
});

test('a slot with the prefix of an engine proves nothing: exit 5, with the slot to name', async () => {
  const own = makeFolders();
  try {
    const ran = await run(words('--interval', '1s', '--until-idle'), { ...asked(), folders: own });
    expect(ran.code).toBe(5);
    expect(ran.stderr).toMatch(/not proven[\s\S]*shop: --slot cloudctl_shop[\s\S]*--slot cloudctl_shop/);
  } finally {
    own.remove();
  }
});

/** A read-only transaction around questions, or the one question that stands alone. */
function isRead(message: string): boolean {
  if (message === "SELECT current_setting('server_version_num') AS version") return true;
  const parts = message.split('; ');
  return (
    isPinnedTransaction(message) &&
    parts
      .slice(1, -1)
      .every((part) => /^(SET LOCAL|SELECT|WITH) /.test(part) && !/\b(INTO|FOR UPDATE|FOR SHARE)\b/.test(part))
  );
}

test('Ctrl-C ends the watch with 130, and says how to come back', async () => {
  const running = start(words('--interval', '1s', '-o', 'json'), asked());
  const lines = start(words('--interval', '1s'), asked());
  await lines.waitFor('stdout', /streaming 100\.0 %/);
  // The other says nothing before its end: by now it has looked at least once.
  await sleep(2000);
  lines.kill('SIGINT');
  const ran = await lines.ended;
  expect(ran.code).toBe(130);
  expect(ran.stderr).toMatch(/^error: /m);
  expect(ran.stderr).toContain(
    `cloudctl db watch --source postgres://postgres@127.0.0.1:${pair.source.port}/shop --disable-ssl`,
  );
  running.kill('SIGTERM');
  const other = await running.ended;
  expect(other.code).toBe(143);
  // One document: the last look.
  expect(other.json<StatusSample>()).toMatchObject({ phase: expect.any(String) });
});

/** The files of a folder without the lock files beside them. */
const recordsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.json'));

test('what was seen is remembered for the next watch, without a secret and for its owner alone', async () => {
  await run(words('--interval', '1s', '--until-idle'), asked());
  const folder = join(folders.state, 'migrations');
  const texts = recordsIn(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.join()).not.toContain(pair.source.password);
  expect(JSON.parse(texts[0]!)).toMatchObject({
    source: `127.0.0.1:${pair.source.port}/shop`,
    slots: [{ name: 'cloudctl_shop' }],
  });
});

test.skipIf(lacks('tmux'))('in a terminal it draws a picture that fits, and gives the terminal back', async () => {
  const shown = await terminal(words('--interval', '1s'), { ...asked(), columns: 80, rows: 24 });
  const screen = await shown.waitFor(/streaming {2}100\.0 %/);
  expect(screen.split('\n').length).toBeLessThanOrEqual(24);
  expect(screen).toMatch(/█{40}/);
  await pair.source.query("ALTER SYSTEM SET wal_level = 'replica'");
  await shown.waitFor(/! wal-level-changed: .*replica[\s\S]*restart/i);
  await pair.source.query("ALTER SYSTEM SET wal_level = 'logical'");
  await shown.press('C-c');
  expect(await shown.ended()).toBe(130);
  const after = await shown.screen();
  expect(after).toMatch(/^error: /m);
  expect(after).not.toContain('Ctrl-C ends');
  await shown.close();
});

test('--watch goes over into the watch once the service has accepted, with the clock of the start', async () => {
  const answer = { id: 'm1', status: 'running', created_at: '2026-11-20T12:00:00Z' };
  const service = await serverFor((_seen, response) => reply(response, 200, answer));
  const own = makeFolders();
  const env = { PGPASSWORD: pair.source.password, CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' };
  try {
    const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
    const source = ['--source', pair.source.url('shop'), '--disable-ssl', '--skip-preflight'];
    const more = ['--watch', '--until-idle', '--slot', 'cloudctl_shop', '--interval', '1s', '-o', 'ndjson'];
    const ran = await run(['db', 'migrate', cluster, ...source, ...more], { folders: own, env, limit: 90_000 });
    expect(ran.code).toBe(0);
    const [migrated, ...looks] = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(migrated).toMatchObject({ id: 'm1', deadline: '2026-12-04T12:00:00Z' });
    expect(looks.at(-1)).toMatchObject({ phase: 'streaming', deadline: migrated.deadline, deadline_from: 'migrate' });
    const folder = join(own.state, 'migrations');
    const names = recordsIn(folder).sort((one) => (one.startsWith('baseline-') ? 1 : -1));
    const [text, baseline] = names.map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(`${text}${baseline}`).not.toContain(pair.source.password);
    // The baseline is written without a preflight, too.
    expect(JSON.parse(baseline!)).toMatchObject({
      version: 1,
      databases: expect.arrayContaining([expect.objectContaining({ name: 'shop' })]),
    });
    expect(JSON.parse(text!)).toMatchObject({ started: { at: '2026-11-20T12:00:00.000Z', cluster, id: 'm1' } });
  } finally {
    own.remove();
  }
});

test('a slot that is dropped ends it with exit 1 and what to do', async () => {
  await pair.source.query("SELECT pg_create_logical_replication_slot('mine', 'pgoutput')", 'shop');
  const running = start(words('--interval', '1s', '--slot', 'mine'), asked());
  await running.waitFor('stdout', /waiting|catching/);
  await pair.source.query("SELECT pg_drop_replication_slot('mine')", 'shop');
  const ran = await running.ended;
  expect(ran.code).toBe(1);
  expect(ran.stderr).toMatch(/error: .*\bmine\b.*\nhint: /);
});

test('wrong words are refused before the source is asked', async () => {
  for (const wrong of [
    ['--interval', '0s'],
    ['--interval', 'soon'],
    ['-o', 'xml'],
  ]) {
    const ran = await run(words(...wrong), asked());
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  }
});

test('words of the watch are refused where nobody watches', async () => {
  const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
  const ran = await run(['db', 'migrate', cluster, '--source', pair.source.url('shop'), '--until-idle'], asked());
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('without --watch');
});

test('a Redis source is watched the same way', async () => {
  const [source, target] = await Promise.all([startRedis(), startRedis()]);
  try {
    target.cli('REPLICAOF', source.host, String(source.port));
    const address = `redis://${source.host}:${source.port}`;
    const ran = await run(
      [
        ...['db', 'watch', '--source', address, '--interval', '1s', '--until-idle', '-o', 'json'],
        ...['--slot', `127.0.0.1:${target.port}`],
      ],
      asked(),
    );
    expect(ran.code).toBe(0);
    expect(ran.json<StatusSample>()).toMatchObject({
      phase: 'streaming',
      databases: [{ slot: `127.0.0.1:${target.port}` }],
    });
  } finally {
    await Promise.all([source.stop(), target.stop()]);
  }
});
