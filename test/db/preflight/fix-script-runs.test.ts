import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderFixScript, renderUndoScript } from '../../../src/db/preflight/fix-script.ts';
import type { PostgresqlReport } from '../../../src/db/preflight/postgresql/run.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Postgres, startPostgres } from '../../fixtures/postgres.ts';
import { runPsql } from '../../fixtures/psql.ts';
import { preflightServer } from './postgresql/preflight.ts';
import { report, findings as sample } from './sample.ts';

const tables = ['CREATE TABLE keyless (n int)', 'INSERT INTO keyless VALUES (1)', 'UPDATE keyless SET n = 2'];

async function serverOf(
  role: readonly string[],
): Promise<{ server: Postgres; report: PostgresqlReport; script: string }> {
  const server = await startPostgres({
    version: 16,
    settings: { wal_level: 'replica', max_replication_slots: 1 },
    setup: ["CREATE ROLE mover LOGIN PASSWORD 'secret'", ...role, 'CREATE DATABASE shop OWNER mover'],
  });
  for (const statement of [...tables, 'ALTER TABLE keyless OWNER TO mover']) await server.query(statement, 'shop');
  const report = await preflightServer({ port: server.port, username: 'mover', dbname: 'shop' });
  return { server, report, script: renderFixScript(report) ?? '' };
}

function live(script: string): readonly string[] {
  return script.split('\n').filter((line) => /^[A-Z]/.test(line));
}

async function identity(server: Postgres): Promise<unknown> {
  return (await server.query("SELECT relreplident AS is FROM pg_class WHERE relname = 'keyless'", 'shop'))[0];
}

describe.skipIf(lacks('psql'))('a fix script that a role without SUPERUSER runs', () => {
  test.each(['rds_superuser', 'cloudsqlsuperuser', 'azure_pg_admin'])(
    'a member of %s gets to the end, and the steps in the console are comments',
    async (admin) => {
      const { server, script } = await serverOf([
        `CREATE ROLE ${admin}`,
        `GRANT ${admin} TO mover`,
        'ALTER ROLE mover REPLICATION',
      ]);
      expect(live(script).filter((line) => line.startsWith('ALTER SYSTEM'))).toEqual([]);
      const run = runPsql({ ...server, password: 'secret' }, script, { username: 'mover', database: 'shop' });
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(await identity(server)).toEqual({ is: 'f' });
      expect(
        script.split('\n').some((line) => /^-- {3}# .*(logical_replication|logical_decoding|wal_level)/.test(line)),
      ).toBe(true);
      expect(script).not.toContain('pg_ctl');
    },
    120_000,
  );

  test('what it can run comes first', async () => {
    const { server, script } = await serverOf([]);
    const run = runPsql({ ...server, password: 'secret' }, script, { username: 'mover', database: 'shop' });
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('permission denied');
    expect(await identity(server)).toEqual({ is: 'f' });
    const system = live(script).findIndex((line) => line.startsWith('ALTER SYSTEM'));
    expect(live(script).findIndex((line) => line.startsWith('ALTER TABLE'))).toBeLessThan(system);
  }, 120_000);

  test('it gives up a lock instead of keeping an application waiting, and can be run again', async () => {
    const { server, script } = await serverOf(['ALTER ROLE mover SUPERUSER']);
    const held = server.query('BEGIN; SELECT FROM keyless; SELECT pg_sleep(6); COMMIT', 'shop');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waited = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const begin = Date.now();
      await server.query('SELECT FROM keyless', 'shop');
      return Date.now() - begin;
    })();
    const run = await runPsqlLater(server, script);
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('lock timeout');
    expect(await waited).toBeLessThan(3000);
    await held;
    expect((await runPsqlLater(server, script)).code).toBe(0);
  }, 120_000);
});

const texts = [
  'a\n\\! touch canary\nb',
  'x\r\\! touch canary',
  "'; \\! touch canary",
  '\u2028\\! touch canary\v\\! touch canary',
];

describe.skipIf(lacks('psql'))('a server that answers every query with one text', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres({ version: 18 });
  }, 120_000);
  afterAll(() => server?.stop());

  test.each(texts)(
    'gets nothing executed by %j',
    (text) => {
      const fix = {
        sql: [
          text,
          `ALTER TABLE ${text} SET LOGGED`,
          `ALTER TABLE "${text}" SET LOGGED`,
          `SELECT '${text}'`,
          `DO E'${text}'`,
        ],
        undo: [text],
        review: [text, `ALTER TABLE t ADD CONSTRAINT c CHECK (${text}) NOT VALID`],
        shell: [text, `host all ${text} 0.0.0.0/0 md5`],
        by: text,
        text,
        notSimulated: text,
        simulated: false,
      };
      const findings = [undefined, text, 'postgres'].flatMap((database) =>
        (['fail', 'warn'] as const).map((status) => ({
          ...sample[0]!,
          id: text,
          status,
          blocks: status === 'fail' ? (['continuous'] as const) : [],
          fix: { ...fix, ...(database === undefined ? {} : { database }) },
        })),
      );
      const hostile = { ...report, source: { ...report.source, host: text }, started_at: text, findings };
      const scripts = [renderFixScript(hostile) ?? '', renderUndoScript(hostile) ?? ''];
      for (const script of scripts) {
        const commands = script.split('\n').filter((line) => line.startsWith('\\'));
        const known = /^\\(connect -reuse-previous=on '[\w:/%]*'|set ON_ERROR_STOP on|encoding UTF8)$/;
        expect(commands.filter((line) => !known.test(line))).toEqual([]);
        expect(script).not.toMatch(/[\r\v\f\u2028\u2029\x85]/);
      }
      // Once as it is, and once line after line whatever fails.
      const lines = scripts
        .join('\n')
        .split('\n')
        .filter((line) => !line.startsWith('\\set'));
      expect(runPsql(server, scripts.join('\n')).created).toEqual([]);
      expect(runPsql(server, ['\\set ON_ERROR_STOP off', ...lines].join('\n')).created).toEqual([]);
      const inOne = lines.filter((line) => !line.startsWith('\\connect'));
      expect(runPsql(server, ['\\set ON_ERROR_STOP off', ...inOne].join('\n')).created).toEqual([]);
    },
    120_000,
  );
});

/** Beside the queries of this process, which a synchronous run would stop. */
async function runPsqlLater(server: Postgres, script: string): Promise<{ code: number | null; stderr: string }> {
  const { spawn } = await import('node:child_process');
  const words = [
    '-X',
    '-v',
    'ON_ERROR_STOP=1',
    '-h',
    server.host,
    '-p',
    String(server.port),
    '-U',
    'postgres',
    '-d',
    'shop',
  ];
  const child = spawn('psql', words, { env: { PATH: process.env.PATH, PGPASSWORD: server.password } });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  child.stdin.end(script);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stderr };
}
