import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualStepsOf, runSql, type ScriptSection, sectionsOf, uncommented } from '../../../scripts/psql.mjs';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Postgres, startPostgres } from '../../fixtures/postgres.ts';
import { idsOf, problemFindings, reportOf, runPreflight } from './preflight-run.ts';

/** One server broken in many ways, cured by its own script, and put back. */
const settings = {
  wal_level: 'replica',
  max_replication_slots: 2,
  max_wal_senders: 3,
  max_slot_wal_keep_size: '64MB',
  wal_sender_timeout: '5s',
  listen_addresses: 'localhost',
  synchronous_standby_names: '*',
  // Otherwise every commit would wait for a standby that does not exist, as those of the role app do.
  synchronous_commit: 'local',
};
const hba = ['host closed all 127.0.0.1/32 reject', 'host all all 127.0.0.1/32 scram-sha-256'];
const password = 'of both';
const strange = 'My "Shop';
const words = ['--target-version', '18', '-o', 'json'];

let folders: Folders;
let server: Postgres;
let first: Ran;
let before: State;

beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({
    version: 17,
    password,
    tls: true,
    settings,
    hba,
    setup: [
      'CREATE DATABASE closed',
      'CREATE DATABASE d1',
      'CREATE DATABASE "My ""Shop"',
      `CREATE ROLE "the mover" LOGIN SUPERUSER PASSWORD '${password}' VALID UNTIL '${soon()}'`,
      `ALTER ROLE "the mover" SET statement_timeout = '10s'`,
      'ALTER ROLE "the mover" SET default_transaction_read_only = on',
      'CREATE ROLE app',
      'ALTER ROLE app SET synchronous_commit = on',
    ],
  });
  for (const database of ['d1', strange]) {
    for (const statement of keyless) await server.query(statement, database);
  }
  before = await state();
  const scripts = ['--fix-sql', file('fix.sql'), '--undo-sql', file('undo.sql')];
  first = await ask([...words, ...scripts]);
});

afterAll(async () => {
  await server?.stop();
  folders.remove();
});

/** A table each for the ways out: an index that serves, and none. */
const keyless = [
  'CREATE TABLE indexed (id int NOT NULL UNIQUE, n int)',
  'CREATE TABLE "no ""key; --" (n int)',
  'CREATE TABLE nothing (id int PRIMARY KEY)',
  'ALTER TABLE nothing REPLICA IDENTITY NOTHING',
  'INSERT INTO indexed VALUES (1, 1)',
  'INSERT INTO "no ""key; --" VALUES (1)',
  'INSERT INTO nothing VALUES (1)',
  'UPDATE indexed SET n = 2',
  'UPDATE "no ""key; --" SET n = 2',
  'UPDATE nothing SET id = 2',
];

test('every fault is named, and the continuous migration is not possible', () => {
  const report = reportOf(first);
  expect(first.code).toBe(3);
  expect(first.stderr).toContain('"code":"preflight_blocked"');
  expect(report).toMatchObject({ verdict: 'blocked', ok: false });
  expect(idsOf(report, 'fail')).toEqual(
    expect.arrayContaining([
      'role-readonly',
      'wal-level',
      'slots-vs-dbs',
      'slots-free',
      'wal-senders',
      'hba-rule',
      'sync-standby-names',
      'replica-identity',
    ]),
  );
  expect(idsOf(report, 'warn')).toEqual(
    expect.arrayContaining(['auth-expiry-window', 'role-timeouts', 'slot-retention', 'wal-sender-timeout']),
  );
  const reasons = new Map(report.databases.map(({ name, reasons }) => [name, reasons]));
  expect(reasons.get('closed')).toContain('hba-rule');
  expect(reasons.get('d1')).not.toContain('hba-rule');
});

test('the script leaves a server that will be replicated, and the undo script brings back every value; both can be run again', async () => {
  expect(await apply('fix.sql', 'needed')).toBe(1);
  const needed = await ask(words);
  expect(reportOf(needed).verdict).toBe('continuous');
  expect(idsOf(reportOf(needed), 'fail')).toEqual([]);
  expect(needed.code).toBe(0);

  expect(await apply('fix.sql', 'optional')).toBe(1);
  const ran = await ask(words);
  const cured = reportOf(ran);
  // The settings of databases and roles are restored on the target.
  expect(idsOf(cured, 'fail', 'warn', 'unknown')).toEqual(['grants']);
  expect(cured.verdict).toBe('continuous');
  expect(ran.code).toBe(0);

  const once = await state();
  await apply('fix.sql');
  expect({ ...(await state()), rules: [] }).toEqual({ ...once, rules: [] });

  await apply('undo.sql');
  expect(await state()).toEqual(before);
  const report = reportOf(await ask(words));
  expect(problemFindings(report)).toEqual(problemFindings(reportOf(first)));
  expect(strip(report)).toEqual(strip(reportOf(first)));

  await apply('undo.sql');
  expect(await state()).toEqual(before);
});

/** What a script may have changed. */
interface State {
  readonly settings: readonly object[];
  readonly role: readonly object[];
  readonly identities: readonly (readonly object[])[];
  readonly rules: readonly string[];
}

async function state(): Promise<State> {
  const identities = `SELECT c.oid::regclass::text AS name, c.relreplident, i.indexrelid::regclass::text AS index
    FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisreplident
    WHERE c.relkind = 'r' AND c.oid >= 16384 ORDER BY 1`;
  return {
    settings: await server.query(
      `SELECT name, setting, source FROM pg_settings WHERE context <> 'internal' AND source <> 'client'
       AND name NOT IN ('application_name', 'client_encoding') ORDER BY 1`,
    ),
    role: await server.query(
      `SELECT r.rolname, r.rolvaliduntil, r.rolconnlimit, s.setconfig FROM pg_roles r
       LEFT JOIN pg_db_role_setting s ON s.setrole = r.oid WHERE r.oid >= 16384 ORDER BY 1`,
    ),
    identities: [await server.query(identities, 'd1'), await server.query(identities, strange)],
    rules: server.read('pg_hba.conf').split('\n'),
  };
}

/** Does what a section says, in order; how often the server was restarted. */
async function apply(name: string, which?: 'needed' | 'optional'): Promise<number> {
  let restarts = 0;
  const sections = sectionsOf(readFileSync(file(name), 'utf8'));
  for (const section of sections.filter(
    ({ isOptional }) => which === undefined || isOptional === (which === 'optional'),
  )) {
    const { lines } = section.isOptional ? uncommented(section) : section;
    await runSql(server, lines, { username: 'the mover', database: 'd1' });
    const orders = manualStepsOf(section);
    changeRules(section, orders);
    if (orders.some((order) => order.startsWith('pg_ctl restart'))) {
      await server.restart();
      restarts += 1;
    }
  }
  // A reload is a signal, which is heard a moment later.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return restarts;
}

/** Host rules come first in the file, and go away again. */
function changeRules(section: ScriptSection, orders: readonly string[]): void {
  const rules = orders.filter((order) => /^(host|hostssl) /.test(order));
  if (rules.length === 0) return;
  const others = server
    .read('pg_hba.conf')
    .split('\n')
    .filter((line) => !rules.includes(line));
  const away = section.lines.some((line) => /remove .* from pg_hba\.conf/.test(line));
  server.write('pg_hba.conf', [...(away ? [] : rules), ...others].join('\n'));
}

function ask(more: readonly string[]): Promise<Ran> {
  return runPreflight(server, more, { folders, dbname: 'd1', username: 'the mover' });
}

function file(name: string): string {
  return join(folders.work, name);
}

/** Without what no two runs have in common. */
/** How much WAL is written in five seconds is of the moment, and scripts that have just run write some. */
const ofTheMoment = ['wal-rate', 'dump-quiesced'];

function strip({ findings }: PreflightReport): readonly object[] {
  const lasting = findings.filter(({ id }) => !ofTheMoment.includes(id));
  return lasting.map(({ id, database, status, required }) => ({ id, database, status, required }));
}

function soon(): string {
  return new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
}
