import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { schemaCopier } from '../../../../src/db/engine/schema/copy.ts';
import {
  canUsePgDump,
  choosePgDump,
  findPgDumps,
  parseMajor,
  removeLines,
} from '../../../../src/db/engine/schema/pg-dump.ts';
import { type ProgramRunner, runProgram } from '../../../../src/platform/external-program.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { richSchema } from './rich-schema.ts';
import { createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';
import { schemaSnapshot } from './schema-snapshot.ts';

const signal = () => AbortSignal.timeout(60_000);

describe('a pg_dump', () => {
  test.each([
    ['pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)', 15],
    ['pg_dump (PostgreSQL) 9.6.24', 9],
    ['pg_dump (PostgreSQL) 19beta1', 19],
    ['pg_dump (PostgreSQL) 18', 18],
    ['pg_dump: command not found', undefined],
    ['', undefined],
  ])('that says %j is of release %s', (text, major) => {
    expect(parseMajor(text)).toBe(major);
  });

  const answers: Readonly<Record<string, string>> = {
    '/a/pg_dump': 'pg_dump (PostgreSQL) 14.2',
    '/b/pg_dump': 'pg_dump (PostgreSQL) 17.1',
    '/usr/lib/postgresql/17/bin/pg_dump': 'pg_dump (PostgreSQL) 17.9',
    '/usr/lib/postgresql/18/bin/pg_dump': 'pg_dump (PostgreSQL) 18.0',
    '/usr/lib/postgresql/broken/bin/pg_dump': '',
  };
  const namesIn = (folder: string) => [
    ...new Set(
      Object.keys(answers)
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => path.slice(folder.length + 1).split('/')[0]!),
    ),
  ];
  const answer: ProgramRunner = async (file) => ({
    status: answers[file] === '' ? 1 : 0,
    stdout: answers[file] ?? '',
    stderr: '',
  });

  test('is looked for on the path and beside other releases; the path wins within a release', async () => {
    const env = { PATH: '/nothing:/a:/b' };
    expect(await findPgDumps({ env, namesIn, run: answer }, signal())).toEqual([
      { path: '/a/pg_dump', major: 14 },
      { path: '/b/pg_dump', major: 17 },
      { path: '/usr/lib/postgresql/18/bin/pg_dump', major: 18 },
    ]);
  });

  test('is searched only in the given folder', async () => {
    const places = { env: { PATH: '/b' }, folder: '/a', namesIn, run: answer };
    expect(await findPgDumps(places, signal())).toEqual([{ path: '/a/pg_dump', major: 14 }]);
  });

  test('is the closest that is as new as the source', () => {
    const dumps = [14, 15, 18].map((major) => ({ path: String(major), major }));
    expect([140_011, 150_001, 160_004, 190_000].map((version) => choosePgDump(dumps, version)?.major)).toEqual([
      14,
      15,
      18,
      undefined,
    ]);
  });
});

describe('the script of a pg_dump', () => {
  const script = `--\n\\restrict abc\nSET statement_timeout = 0;\nSET transaction_timeout = 0;\nCREATE FUNCTION f() AS '\nSET transaction_timeout = 0;\n';\n\\unrestrict abc\n`;

  test('is said without the words for psql', () => {
    expect(removeLines(script, 170_000)).toBe(script.replace('\\restrict abc\n', '').replace('\\unrestrict abc\n', ''));
  });

  test('leaves out a setting that the target does not know, where it is a setting', () => {
    expect(removeLines(script, 160_000).match(/transaction_timeout/g)).toHaveLength(1);
    expect(removeLines(script, 160_000)).toContain(`AS '\nSET transaction_timeout = 0;\n'`);
  });
});

test('a CA that libpq cannot take leaves the copy to the catalog', () => {
  const endpoint = { host: 'h', port: 1, dbname: 'd', username: 'u', password: undefined, ssl: 'require' } as const;
  expect(canUsePgDump(endpoint)).toBe(true);
  expect(canUsePgDump({ ...endpoint, verify: { what: 'full' } })).toBe(false);
  expect(canUsePgDump({ ...endpoint, verify: { what: 'full', ca: { file: 'f', pem: 'p' } } })).toBe(true);
});

describe.skipIf(lacks('pg_dump'))('copying by pg_dump', () => {
  let server: Postgres;
  let younger: Postgres;
  const password = 'p:a\\ss "word"';
  beforeAll(async () => {
    server = await startPostgres({ version: 14, password, tls: true, settings: { wal_level: 'logical' } });
    younger = await startPostgres({ version: 17 });
  }, 60_000);
  afterAll(async () => {
    await Promise.all([server.stop(), younger.stop()]);
  }, 60_000);
  /** Notes arguments, and the files that a kill at this moment would leave in the temporary folder. */
  const spied =
    (seen: { words: string[]; files: string[] }): ProgramRunner =>
    (file, words, options) => {
      seen.words.push(...words);
      for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith('cloudctl-dump-')))
        for (const each of readdirSync(join(tmpdir(), name)))
          seen.files.push(readFileSync(join(tmpdir(), name, each), 'utf8'));
      return runProgram(file, words, options);
    };

  test('gives the same schema, and the password is in no argument and no file', async () => {
    const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
    // pg_dump itself gives heirs the compression of their parents.
    await runStatements(
      server,
      source,
      richSchema(14).filter((statement) => !statement.includes('SET COMPRESSION')),
    );
    const seen: { words: string[]; files: string[] } = { words: [], files: [] };
    const copy = schemaCopier({ env: process.env, run: spied(seen) });
    const endpoint = {
      ...databaseEndpointOf(server, source),
      ssl: 'require',
      verify: { what: 'full', ca: server.ca! },
      host: 'localhost',
    } as const;
    expect(await copy(endpoint, databaseEndpointOf(server, target), signal())).toEqual({
      kind: 'copied',
      by: expect.stringMatching(/^pg_dump \d+$/),
      warnings: [],
    });
    expect(await schemaSnapshot(server, target, 14)).toEqual(await schemaSnapshot(server, source, 14));
    expect(seen.files.length).toBeGreaterThan(0);
    expect([...seen.words, ...seen.files].filter((text) => text.includes('"word"'))).toEqual([]);
    expect(seen.words).toContain('--schema-only');
  }, 60_000);

  test('writes the same text of a copy made from the catalogue as of its source', async () => {
    const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
    await runStatements(server, source, richSchema(14));
    const nowhere = schemaCopier({ env: process.env, folder: join(server.folder, 'nothing') });
    expect(
      await nowhere(databaseEndpointOf(server, source), databaseEndpointOf(server, target), signal()),
    ).toMatchObject({
      by: expect.stringContaining('127.0.0.1'),
    });
    const [before, after] = [await dumped(source), await dumped(target)];
    expect(after).toEqual(before);
    expect(before.length).toBeGreaterThan(500);
  }, 60_000);

  test('copies to a newer major version', async () => {
    const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(younger)];
    await runStatements(server, source, ['CREATE TABLE t (a int PRIMARY KEY)']);
    const copy = schemaCopier({ env: process.env });
    expect(await copy(databaseEndpointOf(server, source), databaseEndpointOf(younger, target), signal())).toMatchObject(
      { kind: 'copied' },
    );
    expect(await younger.query(`SELECT relname FROM pg_class WHERE relname = 't'`, target)).toHaveLength(1);
  });

  test('reports what the target rejects, and leaves nothing', async () => {
    const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(younger)];
    await runStatements(server, source, [
      'CREATE TABLE t (a int)',
      'CREATE VIEW v AS SELECT buffers_backend FROM pg_stat_bgwriter',
    ]);
    const copy = schemaCopier({ env: process.env });
    expect(await copy(databaseEndpointOf(server, source), databaseEndpointOf(younger, target), signal())).toEqual({
      kind: 'refused',
      objects: [expect.stringMatching(/buffers_backend .*\)$/)],
    });
    expect(await younger.query(`SELECT relname FROM pg_class WHERE relname = 't'`, target)).toEqual([]);
  });

  test('reports the error of pg_dump when the source could not be read', async () => {
    const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(younger)];
    await server.query(`CREATE ROLE poor LOGIN PASSWORD 'poor-password'`);
    await runStatements(server, source, ['CREATE TABLE t (a int)']);
    const endpoint = { ...databaseEndpointOf(server, source), username: 'poor', password: new Secret('poor-password') };
    const copy = schemaCopier({ env: process.env });
    await expect(copy(endpoint, databaseEndpointOf(younger, target), signal())).rejects.toThrow(/denied .*table t\b/);
  });

  /** Sorted, because heirs have columns in another order; and without the words for psql, which are others each time. */
  async function dumped(database: string): Promise<readonly string[]> {
    const words = ['--schema-only', '-h', server.folder, '-p', String(server.port), '-U', 'postgres', database];
    const end = await runProgram('pg_dump', words, {
      env: process.env,
      signal: signal(),
      maxOutputBytes: 10_000_000,
    });
    expect(end.stderr).toBe('');
    return end.stdout
      .split('\n')
      .filter((line) => !/^\\(un)?restrict /.test(line))
      .sort();
  }
});
