import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InventoryReport } from '../../../src/db/inventory/report.ts';
import { bin, node, run, startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { parseInventoryLines } from '../../fixtures/inventory-schema.ts';
import { which } from '../../fixtures/needs.ts';
import { type ContainerNetwork, createContainerNetwork, lacksNamespaces } from '../../fixtures/network-namespaces.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { type SilentPort, startSilentPort } from '../../fixtures/silent-port.ts';
import { openTerminal } from '../../fixtures/terminal.ts';

let folders: Folders;
let server: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({ version: 17, settings: ready, direct: true });
  for (const name of ['shop', 'billing']) await server.query(`CREATE DATABASE ${name}`);
}, 60_000);

afterAll(async () => {
  await server?.stop();
  folders?.remove();
});

/** Milliseconds that a connection waits, and what a busy machine needs beside that. */
const connectLimit = 5000;
const reserve = 10_000;

const options = ['--scope', 'database', '--allow-private', '--target-version', '18'];
const env = () => ({ PGPASSWORD: server.password });
const silentUrl = (host: string, port: number, name = 'd') => `postgres://u@${host}:${port}/${name}?sslmode=disable`;
const ownUrl = (host: string, name: string) => `postgres://postgres@${host}:${server.port}/${name}?sslmode=disable`;

function inventoryFile(name: string, lines: readonly string[]): string {
  const file = join(folders.work, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe.skipIf(process.platform !== 'linux')('hosts that do not respond', () => {
  let silent: SilentPort;
  beforeAll(async () => {
    silent = await startSilentPort();
  });
  afterAll(() => silent?.stop());

  it('48 of them take three times the connect timeout, have one reason, and hide no other source', {
    timeout: 90_000,
  }, async () => {
    const hosts = Array.from({ length: 48 }, (_, at) => `127.0.1.${at + 1}`);
    const lines = [...hosts.map((host) => silentUrl(host, silent.port)), ownUrl('127.0.0.1', 'shop')];
    const file = inventoryFile('silent', lines);
    const begun = performance.now();
    const ran = await run(['db', 'inventory', file, ...options, '-o', 'json'], {
      folders,
      env: env(),
      limit: 80_000,
    });
    const took = performance.now() - begun;
    const { summary, sources } = ran.json<InventoryReport>();
    expect(ran.code).toBe(5);
    expect(summary).toMatchObject({ sources: 49, possible: 1, not_checked: 48 });
    expect(new Set(sources.flatMap(({ reason }) => reason ?? [])).size).toBe(1);
    // It really waited, and 16 at a time.
    expect(took).toBeGreaterThan(3 * connectLimit);
    expect(took).toBeLessThan(3 * connectLimit + reserve);
  });

  it.each(['postgres', 'redis'])(
    '100 names of one %s server among them take the connect timeout twice',
    {
      timeout: 60_000,
    },
    async (scheme) => {
      const [host, version] = scheme === 'redis' ? ['127.0.2.1', '8.0'] : ['u@127.0.2.2', '18'];
      const target = `${scheme}://${host}:${silent.port}`;
      const lines = Array.from({ length: 100 }, (_, at) => `${target},n${at},${version}`);
      const file = inventoryFile(scheme, ['url,name,target_version', ...lines]);
      const begun = performance.now();
      const ran = await run(['db', 'inventory', file, '--disable-ssl', ...options, '-o', 'ndjson', '--quiet'], {
        folders,
        env: env(),
        limit: 50_000,
      });
      expect(ran.code).toBe(5);
      expect(parseInventoryLines(ran.stdout)).toHaveLength(100);
      expect(performance.now() - begun).toBeLessThan(2 * connectLimit + reserve);
    },
  );
});

describe.skipIf(lacksNamespaces())('a network that drops packets', () => {
  let network: ContainerNetwork;
  beforeAll(() => {
    network = createContainerNetwork('172.29.17', ['dba']);
    network.dropPackets('dba', '198.51.100.0/24');
  });
  afterAll(() => network?.remove());

  const hosts = Array.from({ length: 20 }, (_, at) => `198.51.100.${at + 1}`);
  const command = (words: readonly string[]) => {
    const [file, ...before] = network.inContainer('dba');
    return { file, args: [...before, node, bin, 'db', 'inventory', ...words, ...options] };
  };

  it('20 hosts behind it are not checked, the sources that can be reached are, and the exit code is 5', {
    timeout: 60_000,
  }, async () => {
    const reachable = ['shop', 'billing'].map((name) => ownUrl(network.gateway, name));
    const lines = [...hosts.map((host) => silentUrl(host, 5432)), ...reachable];
    const { file, args } = command([inventoryFile('dropped', lines), '-o', 'json']);
    const begun = performance.now();
    const ran = await startProgram(file, args, { folders, env: env(), limit: 50_000 }).ended;
    expect(ran.code).toBe(5);
    expect(ran.json<InventoryReport>().summary).toMatchObject({ possible: 2, not_checked: 20 });
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(2 * connectLimit);
    expect(took).toBeLessThan(2 * connectLimit + reserve);
  });

  it.skipIf(which('tmux') === undefined)('a terminal shows a line for each of them', { timeout: 60_000 }, async () => {
    const some = hosts.slice(0, 6);
    const lines = ['url,name', ...some.map((host, at) => `${silentUrl(host, 5432)},branch-${at}`)];
    const { file, args } = command([inventoryFile('named', lines)]);
    const shown = await openTerminal(file, args, { folders, env: env(), columns: 120, rows: 40 });
    try {
      expect(await shown.ended(40_000)).toBe(5);
      const screen = await shown.screen();
      for (const at of some.keys()) expect(screen).toMatch(new RegExp(`^branch-${at}: not checked, no response`, 'm'));
    } finally {
      await shown.close();
    }
  });
});
