import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { isPinnedTransaction } from '../../fixtures/pin-rules.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { reportOf, runPreflight } from './preflight-run.ts';

/** The server's own log is the witness: everything it was told, by whom. */
const settings = { ...ready, log_statement: 'all', log_replication_commands: 'on', log_line_prefix: '[%a] ' };

/** What may stand in a message besides a question. */
const frame = new Set([
  'BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE',
  'SET LOCAL role TO none',
  'SET LOCAL search_path TO pg_catalog, pg_temp',
  "SET LOCAL quote_all_identifiers='off'",
  "SET LOCAL standard_conforming_strings='on'",
  "SET LOCAL datestyle='ISO, MDY'",
  "SET LOCAL intervalstyle='postgres'",
  "SET LOCAL timezone='GMT'",
  "SET LOCAL bytea_output='hex'",
  "SET LOCAL extra_float_digits='3'",
  "SET LOCAL lc_monetary='C'",
  "SET LOCAL lc_numeric='C'",
  "SET LOCAL lc_time='C'",
  "SET LOCAL transaction_timeout='0'",
  "SET LOCAL statement_timeout='15s'",
  "SET LOCAL lock_timeout='1s'",
  "SET LOCAL exit_on_error='off'",
  "SET LOCAL work_mem='16MB'",
  "SET LOCAL jit='off'",
  'COMMIT',
  'ROLLBACK',
]);

/** PostgreSQL calls them volatile, as it calls all that might have an effect; these only look. */
const harmless = new Set([
  'clock_timestamp',
  'pg_current_wal_lsn',
  'pg_database_size',
  'pg_hba_file_rules',
  'pg_is_in_recovery',
  'pg_last_wal_receive_lsn',
  'pg_last_wal_replay_lsn',
  'pg_partition_ancestors',
  'pg_show_all_file_settings',
  'pg_table_size',
  'pg_total_relation_size',
  'pg_relation_size',
  'pg_collation_actual_version',
  'pg_control_checkpoint',
  'pg_control_system',
  'pg_ls_dir',
  'pg_ls_waldir',
  'pg_read_binary_file',
  'pg_stat_file',
  'pg_database_collation_actual_version',
  // Asks what it is given, in the same transaction: a SELECT that the question made of names.
  'query_to_xml',
]);

const counters = `SELECT datname, tup_inserted, tup_updated, tup_deleted, temp_files, temp_bytes, deadlocks
  FROM pg_stat_database WHERE datname IS NOT NULL ORDER BY 1`;

interface Witnessed {
  readonly server: Postgres;
  readonly runs: readonly Ran[];
  /** Messages of the preflight, as the server logged them. */
  readonly messages: readonly string[];
  readonly before: readonly object[];
  readonly after: readonly object[];
}

const versions = [14, 18] as const;
const witnessed = new Map<number, Witnessed>();
let folders: Folders;

beforeAll(async () => {
  folders = makeFolders();
  await Promise.all(versions.map(async (version) => witnessed.set(version, await witness(version))));
});

afterAll(async () => {
  await Promise.all([...witnessed.values()].map(({ server }) => server.stop()));
  folders.remove();
});

async function witness(version: (typeof versions)[number]): Promise<Witnessed> {
  const server = await startPostgres({ version, settings });
  for (const name of ['d1', 'd2', 'd3']) {
    await server.query(`CREATE DATABASE ${name}`);
    await server.query('CREATE TABLE t (id int PRIMARY KEY, l json); INSERT INTO t VALUES (1, NULL)', name);
    await server.query('CREATE TABLE keyless (n int); INSERT INTO keyless VALUES (1); UPDATE keyless SET n = 2', name);
    await server.query('CREATE SEQUENCE s; CREATE UNLOGGED TABLE u (); CREATE MATERIALIZED VIEW m AS TABLE t', name);
    await server.query('ALTER TABLE t ENABLE ROW LEVEL SECURITY; SELECT lo_create(0)', name);
  }
  await server.query(`CREATE ROLE bare LOGIN PASSWORD '${server.password}'`);
  // Counters are handed in when a session ends, and by PostgreSQL 14 a moment later.
  await pause(1500);
  const before = await server.query(counters);
  const words = ['--target-version', '18', '-o', 'json', '--show-queries', '--probe'];
  const asked = { folders, dbname: 'd1' };
  // A role that is denied a lot makes the message fail, so that its questions are asked one by one.
  const runs = await Promise.all([
    runPreflight(server, words, asked),
    runPreflight(server, words, { ...asked, username: 'bare' }),
  ]);
  await pause(1500);
  const messages = server
    .log()
    .split(/\n(?=\[)/)
    .flatMap(
      (entry) =>
        /^\[cloudctl-preflight\] LOG: {2}(?:statement: |received replication command: )(.*)$/s.exec(
          entry.trimEnd(),
        )?.[1] ?? [],
    );
  return { server, runs, messages, before, after: await server.query(counters) };
}

test.each(versions)('on PostgreSQL %i every message is from the fixed list, and read-only', async (version) => {
  const { messages } = witnessed.get(version)!;
  expect(messages.length).toBeGreaterThan(20);
  const odd = messages.filter((message) => !isListed(message));
  expect(odd).toEqual([]);
  // The question that is denied goes alone.
  expect(messages).toContain('ROLLBACK');
  expect(messages).toContain('IDENTIFY_SYSTEM');
});

test.each(versions)('on PostgreSQL %i no question calls a function that does more than look', async (version) => {
  const { server, messages } = witnessed.get(version)!;
  // A signature in quotes is a value that a query compares, such as 'pg_stop_backup()'.
  const texts = messages.join(';').replace(/'\w+\([\w, ]*\)'/g, '');
  const called = new Set([...texts.matchAll(/\b([a-z_][a-z0-9_]*)\s*\(/g)].map(([, name]) => name!));
  const list = [...called].map((name) => `'${name}'`).join();
  const volatile = await server.query<{ proname: string }>(
    `SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND prorettype <> 'trigger'::regtype AND proname IN (${list}) ORDER BY 1`,
  );
  expect(volatile.map(({ proname }) => proname).filter((name) => !harmless.has(name))).toEqual([]);
  expect([...called]).toContain('pg_database_size');
  const given = messages.flatMap((message) => [...message.matchAll(/\bformat\(\s*'(\w+)/g)].map(([, word]) => word));
  if (called.has('query_to_xml')) expect(new Set(given)).toContain('SELECT');
  expect(given.filter((word) => /^(insert|update|delete|create|alter|drop|do|call)$/i.test(word!))).toEqual([]);
});

test.each(versions)('on PostgreSQL %i no row was written and no temporary file made', (version) => {
  const { before, after } = witnessed.get(version)!;
  expect(before.length).toBeGreaterThan(4);
  expect(after).toEqual(before);
});

test.each(versions)(
  'on PostgreSQL %i --show-queries tells all that the server was told, and nothing else',
  (version) => {
    const { runs, messages } = witnessed.get(version)!;
    const shown = runs.flatMap(({ stderr }) => [
      ...stderr.matchAll(/^query sent to [^:]*: (.*(?:\n(?!query sent|error|asking|\d+ of|\{).*)*)$/gm),
    ]);
    const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
    const [told, logged] = [shown.map(([, text]) => plain(text!)), messages.map(plain)];
    const differing = { told: without(told, logged), logged: without(logged, told) };
    expect(differing).toEqual({ told: [], logged: [] });
    const counted = runs.reduce((sum, ran) => sum + reportOf(ran).queries, 0);
    // Its count is of statements.
    expect(counted).toBe(messages.flatMap((message) => message.split(/;\s/)).length);
  },
);

/** What of one list is not in the other, each as often as it is too often. */
function without(one: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return one.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The pin first and COMMIT last, around questions; or one of the few that stand alone. */
function isListed(message: string): boolean {
  if (['IDENTIFY_SYSTEM', 'ROLLBACK'].includes(message)) return true;
  const parts = message.split(/;\s*/);
  const questions = parts.filter((part) => !frame.has(part));
  return (
    isPinnedTransaction(message) &&
    parts.filter((part) => /^(BEGIN|COMMIT|ROLLBACK)/.test(part)).length === 2 &&
    questions.length > 0 &&
    questions.every((part) => /^(SELECT|WITH)\s/.test(part) && !/\b(INTO|FOR UPDATE|FOR SHARE)\b/.test(part))
  );
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
