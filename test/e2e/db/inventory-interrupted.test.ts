import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sourceFileName } from '../../../src/db/inventory/files.ts';
import { bin, node, type Running, run, start, startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { parseInventoryLines, parseInventoryReport } from '../../fixtures/inventory-schema.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';

let folders: Folders;
let server: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({ version: 17, settings: ready, direct: true });
}, 60_000);

afterAll(async () => {
  await server?.stop();
  folders?.remove();
});

const path = (name: string) => join(folders.work, name);
const url = () => `postgres://postgres@127.0.0.1:${server.port}/postgres?sslmode=disable`;
const options = ['--scope', 'database', '--allow-private', '--target-version', '18'];

/** An inventory of so many names of one database. */
function inventoryFile(count: number): string {
  const file = path(`sources-${count}`);
  writeFileSync(file, ['url,name', ...Array.from({ length: count }, (_, at) => `${url()},n${at}`)].join('\n'));
  return file;
}

/** A command that gives the password after a while, and writes down that it was called. */
function slowPassword(log: string): readonly string[] {
  const script = path('slow.sh');
  writeFileSync(script, `#!/bin/sh\necho called >>"$1"\nsleep 0.3\necho '${server.password}'\n`, { mode: 0o700 });
  return ['--parallel', '2', '--password-command', JSON.stringify([script, path(log)])];
}

const calls = (log: string) => readFileSync(path(log), 'utf8').split('\n').length - 1;

function check(count: number, words: readonly string[]): Running {
  return start(['db', 'inventory', inventoryFile(count), ...options, ...words], {
    folders,
    env: { PGPASSWORD: server.password },
    limit: 60_000,
  });
}

async function closeAfterFirstLine(running: Running): Promise<void> {
  await running.waitFor('stdout', /\n/);
  running.child.stdout?.destroy();
}

it('the checks end when the reader of the lines has closed the pipe', async () => {
  const running = check(80, [...slowPassword('closed'), '-o', 'ndjson']);
  await closeAfterFirstLine(running);
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(calls('closed')).toBeLessThan(20);
});

it('with a report they go on, and the report has all sources', async () => {
  const running = check(30, ['--report', path('all.json'), '-o', 'csv', ...slowPassword('reported')]);
  await closeAfterFirstLine(running);
  await running.ended;
  expect(parseInventoryReport(readFileSync(path('all.json'), 'utf8')).sources).toHaveLength(30);
});

it.skipIf(!existsSync('/dev/full'))('the checks end when the lines cannot be written', async () => {
  const words = ['db', 'inventory', inventoryFile(80), ...options, ...slowPassword('full'), '-o', 'ndjson'];
  const ran = await startProgram('sh', ['-c', 'exec "$@" >/dev/full', 'sh', node, bin, ...words], { folders }).ended;
  expect(ran.code).toBe(7);
  expect(ran.stderr).toContain('ENOSPC');
  expect(calls('full')).toBeLessThan(20);
});

it.skipIf(!existsSync('/dev/full'))('a report on a full disk costs only that report', async () => {
  symlinkSync('/dev/full', path('full.html'));
  const ran = await check(3, ['--report', path('full.html'), '--report', path('ok.json'), '-o', 'json']).ended;
  expect(ran.code).toBe(7);
  expect(JSON.parse(ran.stderr.slice(ran.stderr.indexOf('{')))).toMatchObject({ error: { code: 'storage' } });
  expect(ran.stderr).toContain('ENOSPC');
  expect(parseInventoryReport(ran.stdout).summary).toMatchObject({ sources: 3, possible: 3 });
  expect(parseInventoryReport(readFileSync(path('ok.json'), 'utf8')).sources).toHaveLength(3);
});

it.each(['--report-dir', '--baseline'])('a file of %s that cannot be written costs only that file', async (option) => {
  const folder = path(`folder${option}`);
  // A folder in the place of the file.
  mkdirSync(join(folder, sourceFileName('n1'), 'x'), { recursive: true });
  const ran = await check(3, [option, folder, '-o', 'json']).ended;
  expect(ran.code).toBe(7);
  expect(parseInventoryReport(ran.stdout).summary).toMatchObject({ sources: 3, possible: 3 });
  for (const name of ['n0', 'n2']) JSON.parse(readFileSync(join(folder, sourceFileName(name)), 'utf8'));
});

it('a damaged baseline is not overwritten, and costs only its comparison', async () => {
  const folder = path('damaged');
  mkdirSync(folder);
  writeFileSync(join(folder, sourceFileName('n1')), '{"half');
  const ran = await check(3, ['--baseline', folder, '-o', 'ndjson']).ended;
  expect(ran.code).toBe(7);
  expect(parseInventoryLines(ran.stdout)).toHaveLength(3);
  expect(readFileSync(join(folder, sourceFileName('n1')), 'utf8')).toBe('{"half');
});

it('kill -9 leaves whole lines and whole files', async () => {
  const folder = path('killed');
  const words = ['--report-dir', folder, ...slowPassword('kill'), '-o', 'ndjson'];
  const running = check(60, words);
  await running.waitFor('stdout', /(?:.*\n){5}/);
  running.kill('SIGKILL');
  await running.ended;
  const { stdout } = running.printed();
  expect(parseInventoryLines(stdout.slice(0, stdout.lastIndexOf('\n') + 1)).length).toBeGreaterThanOrEqual(5);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  expect(files.length).toBeGreaterThanOrEqual(5);
  for (const name of files) JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const again = await run(['db', 'inventory', inventoryFile(60), ...options, '--report-dir', folder, '-o', 'json'], {
    folders,
    env: { PGPASSWORD: server.password },
    limit: 60_000,
  });
  expect(again.code).toBe(0);
  expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toHaveLength(60);
});
