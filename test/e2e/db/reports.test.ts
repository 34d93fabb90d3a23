import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { junitErrors } from '../../db/preflight/formats/junit-schema.ts';
import { codeScanningSchema } from '../../db/preflight/formats/sarif-schema.ts';
import { type Ran, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { schemaErrors } from '../../fixtures/json-schema.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { validReport } from '../../fixtures/report-schema.ts';
import { findingOf, idsOf, reportOf, runPreflight } from './preflight-run.ts';

const endings = ['json', 'md', 'html', 'xml', 'sarif'] as const;
const target = ['--target-version', '18'];

let folders: Folders;
let server: Postgres;
let first: Ran;

/** wal_level and one table are wrong; the rest is as it should be. */
beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({
    version: 17,
    settings: { ...ready, wal_level: 'replica', wal_sender_timeout: '10s' },
  });
  await server.query('CREATE DATABASE "odd <b>"');
  await server.query('CREATE TABLE t (n int); INSERT INTO t VALUES (1); UPDATE t SET n = 2', 'odd <b>');
  const files = endings.flatMap((ending) => ['--report', file(`report.${ending}`)]);
  const more = ['--baseline', file('baseline.json'), '--sarif-uri', 'db/schema.sql'];
  first = await ask([...target, '-o', 'json', ...files, ...more]);
});

afterAll(async () => {
  await server?.stop();
  folders.remove();
});

test('-o json is schema_version 1, complete, with findings in the order of the catalogue', () => {
  const report = reportOf(first);
  expect(first.code).toBe(3);
  const { findings, databases, source, summary, methods, estimate, ...rest } = report;
  expect(rest).toMatchObject({
    schema_version: 1,
    engine: 'postgresql',
    verdict: 'dump',
    method: 'continuous',
    ok: false,
    proven: true,
    data_loss: [],
    target: { version: '18' },
    queries: expect.any(Number),
    duration_ms: expect.any(Number),
  });
  expect(methods).toEqual({ continuous: false, dump: true });
  expect(source).toEqual({
    host: '127.0.0.1',
    port: server.port,
    dbname: 'odd <b>',
    username: 'postgres',
    ssl: false,
    address: '127.0.0.1',
    server_version: expect.stringMatching(/^17\.\d+$/),
    role: { superuser: true, replication: true },
  });
  expect(estimate).toEqual({ seconds_low: expect.any(Number), seconds_high: expect.any(Number) });
  expect(Math.abs(Date.parse(report.started_at) - Date.now())).toBeLessThan(120_000);
  expect(databases).toEqual([
    { name: 'odd <b>', verdict: 'dump', size_bytes: expect.any(Number), tables: 1, reasons: expect.any(Array) },
    { name: 'postgres', verdict: 'dump', size_bytes: expect.any(Number), tables: 0, reasons: ['wal-level'] },
  ]);
  expect(databases[0]?.reasons).toEqual(['wal-level', 'replica-identity']);
  const counted = { pass: 0, fail: 0, warn: 0, skip: 0, unknown: 0, info: 0 };
  for (const { status } of findings) counted[status] += 1;
  expect(summary).toEqual(counted);
  for (const finding of findings) {
    expect(finding).toMatchObject({
      id: expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/),
      title: expect.any(String),
      blocks: expect.any(Array),
      observed: expect.any(String),
      scope: expect.stringMatching(/^(server|database)$/),
    });
    expect(finding.blocks.length > 0).toBe(finding.status === 'fail');
    expect(finding.database === undefined).toBe(finding.scope === 'server');
  }
  expect(findingOf(report, 'wal-level')).toMatchObject({
    status: 'fail',
    blocks: ['continuous'],
    observed: 'replica',
    required: 'logical',
    fix: { sql: ["ALTER SYSTEM SET wal_level = 'logical'"], restart: true, text: expect.any(String) },
    spec: 'S9.13',
  });
  const ids = [...new Set(findings.map(({ id }) => id))];
  expect(ids.indexOf('host-parse')).toBe(0);
  // One finding a check and database, those of a check side by side.
  expect(new Set(findings.map(({ id, database }) => `${id} ${database}`)).size).toBe(findings.length);
  expect(findings.map(({ id }) => id)).toEqual(
    ids.flatMap((id) => findings.filter((one) => one.id === id).map(() => id)),
  );
});

test('every format is written, and tells the same', () => {
  const report = reportOf(first);
  const texts = Object.fromEntries(endings.map((ending) => [ending, readFileSync(file(`report.${ending}`), 'utf8')]));
  expect(JSON.parse(texts.json!)).toEqual(report);
  expect(validReport(JSON.parse(readFileSync(file('baseline.json'), 'utf8')))).toMatchObject(report);
  const sarif = JSON.parse(texts.sarif!);
  expect(schemaErrors(codeScanningSchema, sarif)).toEqual([]);
  expect(junitErrors(texts.xml!)).toEqual([]);
  expect(JSON.stringify(sarif.runs[0].results.map((result: { ruleId: string }) => result.ruleId))).toContain(
    'wal-level',
  );
  expect(texts.xml).toMatch(/<testsuites?[\s\S]*failures="[1-9]/);
  expect(texts.xml!.match(/<failure/g)?.length).toBe(report.summary.fail);
  expect(texts.md).toContain('wal-level');
  // One file without anything from elsewhere, and without the markup that names carry.
  expect(texts.html).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)=|@import|url\(/i);
  for (const ending of ['html', 'xml'] as const) {
    expect(texts[ending]).not.toContain('<b>"');
    expect(texts[ending]).not.toMatch(/odd <b>/);
    expect(texts[ending]).toContain('odd &lt;b&gt;');
  }
});

describe.concurrent('a run of its own', () => {
  test('with a baseline tells what changed since', async () => {
    await server.query("SELECT pg_create_physical_replication_slot('standby')");
    await server.query('CREATE UNLOGGED TABLE scratch (id int PRIMARY KEY)');
    const words = [...target, '--baseline', file('baseline.json')];
    const [text, json] = await Promise.all([ask(words), ask([...words, '-o', 'json'])]);
    const { changes } = validReport(
      json.json<PreflightReport & { changes: { id: string; before?: object; after?: object }[] }>(),
    );
    // How many slots are free was measured; that a table became unlogged is a change.
    expect(changes.map(({ id }) => id)).not.toContain('slots-free');
    expect(changes.find(({ id }) => id === 'unlogged')).toMatchObject({ before: { status: 'pass' } });
    expect(text.stdout).toMatch(/unlogged/);
    expect(text.code).toBe(3);
    // The file stays what it was: it is the point to compare with.
    expect(JSON.parse(readFileSync(file('baseline.json'), 'utf8'))).toMatchObject(reportOf(first));
  });

  test('--accept waives what it names, and the report records it', async () => {
    const ran = await ask([...target, '-o', 'json', '--accept', 'wal-level,replica-identity']);
    const report = reportOf(ran);
    expect(report).toMatchObject({ ok: true, verdict: 'continuous' });
    expect(findingOf(report, 'wal-level')).toMatchObject({ status: 'fail', accepted: true });
    expect(findingOf(report, 'wal-sender-timeout').accepted).toBeUndefined();
    expect(ran.code).toBe(0);
  });

  test('--strict makes warnings block', async () => {
    const words = [...target, '-o', 'json', '--accept', 'wal-level,replica-identity'];
    const ran = await ask([...words, '--strict']);
    const report = reportOf(ran);
    expect(idsOf(report, 'warn')).toEqual(expect.arrayContaining(['wal-sender-timeout']));
    expect(report.ok).toBe(false);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain('--strict');
  });

  test('--method dump is judged for the dump', async () => {
    const ran = await ask([...target, '--method', 'dump', '-o', 'json']);
    expect(reportOf(ran)).toMatchObject({ verdict: 'dump', method: 'dump', ok: true });
    expect(ran.code).toBe(0);
  });

  test('--ignore-dbs leaves a database out, and no other', async () => {
    const report = reportOf(await ask([...target, '-o', 'json', '--ignore-dbs', 'odd <b>']));
    expect(report.databases.map(({ name }) => name)).toEqual(['postgres']);
    expect(idsOf(report, 'fail')).toEqual(['wal-level']);
  });

  test.each([
    ['a database that is not there', ['--ignore-dbs', 'postgers'], /postgers[\s\S]*postgres/],
    ['a finding that does not exist', ['--accept', 'wal-levle'], /wal-levle[\s\S]*wal-level/],
    ['an ending that is no format', ['--report', 'report.pdf'], /report\.pdf[\s\S]*\.sarif/],
  ])('%s is a usage error with a hint, and nothing is reported', async (_what, words, said) => {
    const ran = await ask([...target, ...words]);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toMatch(said);
  });

  test('--quiet says nothing but the report, --no-color and a pipe have no colours', async () => {
    const ran = await ask([...target, '--quiet', '--method', 'dump']);
    expect(ran.stderr).toBe('');
    expect(ran.stdout).toMatch(/^Only .*\bdump\b.*\.$/m);
    expect(ran.stdout).not.toContain('\u001b');
  });

  test('rows of a table format are the findings', async () => {
    const [csv, ndjson] = await Promise.all([
      ask([...target, '-o', 'csv', '--format', 'ID,Status,Database', '--method', 'dump']),
      ask([...target, '-o', 'ndjson', '--method', 'dump']),
    ]);
    const lines = csv.stdout.trim().split('\n');
    expect(lines[0]).toBe('ID,Status,Database');
    expect(lines).toContain('wal-level,fail,');
    expect(ndjson.stdout.trim().split('\n').length).toBe(lines.length - 1);
  });

  test('a signal ends it at once, and no half-written file stays', async () => {
    const words = ['db', 'preflight', '--source', server.url('postgres'), '--allow-private', '--disable-ssl'];
    const report = file('interrupted.json');
    // A dump waits 5 s for the second reading of the write rate.
    const running = start([...words, '--method', 'dump', '--report', report], {
      folders,
      env: { PGPASSWORD: server.password },
    });
    await running.waitFor('stderr', /querying the source/);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const begun = performance.now();
    running.kill('SIGINT');
    const ran = await running.ended;
    expect(ran.code).toBe(130);
    expect(performance.now() - begun).toBeLessThan(2000);
    expect(existsSync(report)).toBe(false);
  });
});

function ask(words: readonly string[]): Promise<Ran> {
  return runPreflight(server, words, { folders, dbname: 'odd <b>' });
}

function file(name: string): string {
  return join(folders.work, name);
}
