import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { InventoryReport } from '../../../src/db/inventory/report.ts';
import { dbTestHost } from '../../commands/db/test-source.ts';
import { runCloudctl } from '../../commands/run-cloudctl.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { startTcpRelay, type TcpRelayOptions } from '../../fixtures/tcp-relay.ts';

let honest: Postgres;
let blocked: Postgres;

beforeAll(async () => {
  honest = await startPostgres({ version: 17, settings: { ...ready, max_slot_wal_keep_size: '1GB' }, direct: true });
  blocked = await startPostgres({ version: 17, direct: true });
  return async () => {
    await honest.stop();
    await blocked.stop();
  };
}, 60_000);

const url = (port: number, host = '127.0.0.1') => `postgres://postgres@${host}:${port}/postgres?sslmode=disable`;

async function relayTo(server: Postgres, options: TcpRelayOptions = {}): Promise<number> {
  const relay = await startTcpRelay(server.port, options);
  onTestFinished(() => relay.stop());
  return relay.port;
}

async function check(lines: readonly string[], words: readonly string[] = []): Promise<InventoryReport> {
  const host = dbTestHost({ PGPASSWORD: honest.password });
  const file = join(host.place.work, 'sources');
  writeFileSync(file, lines.join('\n'));
  const all = ['--allow-private', '--target-version', '18', '--parallel', '1', '-o', 'json', ...words];
  return (await runCloudctl(host, ['db', 'inventory', file, ...all])).json();
}

/** The words by which servers are told apart, as they are on the wire. */
async function identityOf(server: Postgres): Promise<readonly string[]> {
  const [row] = await server.query<{ id: string; started: string }>(
    'SELECT system_identifier::text AS id, extract(epoch FROM pg_postmaster_start_time())::text AS started FROM pg_control_system()',
  );
  return [row?.id ?? '', row?.started ?? ''];
}

describe('a server that reports the identity of another one', () => {
  it.each(['first', 'last'])('decides no verdict but its own, as the %s source', async (position) => {
    const [own, other] = [await identityOf(blocked), await identityOf(honest)];
    let rewritten = 0;
    const port = await relayTo(blocked, {
      rewrite: (chunk) => {
        let text = chunk.toString('latin1');
        for (const [at, word] of own.entries()) {
          rewritten += text.split(word).length - 1;
          text = text.replaceAll(word, other[at] ?? '');
        }
        return Buffer.from(text, 'latin1');
      },
    });
    const lines = [url(port), url(honest.port)];
    const { sources, summary } = await check(position === 'first' ? lines : lines.toReversed());
    expect(rewritten).toBeGreaterThan(1);
    expect(summary.servers).toBe(1);
    const verdicts = Object.fromEntries(sources.map((row) => [row.url.includes(`:${port}/`), row.verdict]));
    expect(verdicts).toEqual({ true: 'dump', false: 'continuous' });
  });
});

it('names with several addresses of one server are one server in the report', async () => {
  const port = await relayTo(honest, { address: '127.0.0.2' });
  const { servers, summary } = await check([url(honest.port), url(port, '127.0.0.2')]);
  expect(summary).toMatchObject({ servers: 1, possible: 2 });
  expect(servers[0]?.also).toEqual([`127.0.0.2:${port}`]);
});

it('a server that is silent until the deadline of one source decides no verdict of the others', {
  timeout: 60_000,
}, async () => {
  const server = await startPostgres({ version: 17, settings: ready, direct: true });
  for (const name of ['a', 'b', 'c']) await server.query(`CREATE DATABASE ${name}`);
  const relay = await startTcpRelay(server.port);
  onTestFinished(() => relay.stop());
  const lines = ['a', 'b', 'c'].map((name) => url(relay.port).replace('/postgres?', `/${name}?`));
  const checked = check(lines, ['--scope', 'database', '--deadline', '3s']);
  // The login has four connections; the next one queries a database.
  while (relay.connections() < 5) await new Promise((go) => setTimeout(go, 1));
  relay.setPaused(true);
  setTimeout(() => relay.setPaused(false), 3500);
  const { sources } = await checked;
  expect(sources.map(({ state, ok }) => ({ state, ok }))).toEqual([
    { state: 'not_checked', ok: false },
    { state: 'checked', ok: true },
    { state: 'checked', ok: true },
  ]);
});
