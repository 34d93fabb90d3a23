import {
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { removeStatements, withLibpqEnvironment } from '../../../../src/db/engine/schema/pg-dump.ts';

const isExtension = (statement: string) => statement.startsWith('CREATE EXTENSION');

test('a statement is left out with the comments before it', () => {
  const script = `SET a = 1;\n\n--\n-- Name: x; Type: EXTENSION\n--\n\nCREATE EXTENSION "a;b'c" WITH SCHEMA "s";\n\nSELECT 1;\n`;
  expect(removeStatements(script, isExtension)).toBe('SET a = 1;\n\nSELECT 1;\n');
});

test.each([
  `SELECT 'x;\nCREATE EXTENSION y;\n';`,
  `SELECT 'it''s;\nCREATE EXTENSION y;\n';`,
  `COMMENT ON TABLE "t;\nCREATE EXTENSION y;" IS 'a';`,
  `CREATE FUNCTION f() AS $_$;\nCREATE EXTENSION y;\n$$;\n$_$;`,
  `CREATE FUNCTION f() AS $$ $1;\nCREATE EXTENSION y;$$ LANGUAGE sql;`,
  `-- it's; \n--\nSELECT 1;`,
  `SELECT 'open;\nCREATE EXTENSION y;`,
  `CREATE FUNCTION f() AS $open$;\nCREATE EXTENSION y;`,
])('what is quoted is no statement: %j', (script) => {
  expect(removeStatements(script, isExtension)).toBe(script);
});

test('a long constant is no problem', () => {
  const script = `SELECT '${"x''".repeat(1_000_000)}'; SELECT $$${';'.repeat(1_000_000)}$$;`;
  expect(removeStatements(script, isExtension)).toBe(script);
});

describe('the environment of pg_dump', () => {
  const source = {
    host: 'h',
    port: 1,
    dbname: 'd',
    username: 'u',
    password: new Secret('a\nb:c'),
    ssl: 'require',
  } as const;

  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'libpq-'));
    vi.stubEnv('TMPDIR', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  /** Makes a folder with these files, two minutes ago. */
  function oldFolder(name: string, ...files: readonly string[]): string {
    const path = join(folder, name);
    const then = new Date(Date.now() - 120_000);
    mkdirSync(path, { mode: 0o700 });
    for (const file of files) {
      writeFileSync(join(path, file), 'PEM', { mode: 0o600 });
      utimesSync(join(path, file), then, then);
    }
    utimesSync(path, then, then);
    return path;
  }

  test('the password is a variable, and no file is written', async () => {
    const env = await withLibpqEnvironment(source, async (found) => {
      expect(readdirSync(folder)).toEqual([]);
      return found;
    });
    expect(env).toMatchObject({ PGPASSWORD: 'a\nb:c', PGHOST: 'h', PGSSLMODE: 'require' });
    expect(Object.keys(env)).not.toContain('PGPASSFILE');
  });

  test('what a killed run left is removed', async () => {
    const left = [oldFolder('cloudctl-dump-AbC123', 'authority.pem'), oldFolder('cloudctl-dump-000000')];
    await withLibpqEnvironment(source, async () => {});
    expect(left.filter((path) => existsSync(path))).toEqual([]);
  });

  test('a folder that is not exactly what a killed run leaves stays', async () => {
    const young = join(folder, 'cloudctl-dump-young1');
    mkdirSync(young);
    writeFileSync(join(young, 'authority.pem'), 'x');
    const elsewhere = oldFolder('elsewhere', 'authority.pem');
    symlinkSync(elsewhere, join(folder, 'cloudctl-dump-linked'));
    const linked = oldFolder('cloudctl-dump-inside');
    symlinkSync(join(elsewhere, 'authority.pem'), join(linked, 'authority.pem'));
    const then = new Date(Date.now() - 120_000);
    utimesSync(linked, then, then);
    lutimesSync(join(linked, 'authority.pem'), then, then);
    const kept = [
      young,
      join(elsewhere, 'authority.pem'),
      linked,
      oldFolder('cloudctl-dump-AbC1234', 'authority.pem'),
      oldFolder('cloudctl-dump-other1', 'authority.pem', 'notes'),
      oldFolder('cloudctl-pg-AbC123', 'authority.pem'),
    ];
    await withLibpqEnvironment(source, async () => {});
    expect(kept.filter((path) => !existsSync(path))).toEqual([]);
  });
});
