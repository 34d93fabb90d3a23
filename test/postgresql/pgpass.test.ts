import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { findPgPassword, searchPgpass } from '../../src/postgresql/pgpass.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { expectGolden } from '../fixtures/golden.ts';

const source = {
  host: 'db.example.com',
  port: 5432,
  dbname: 'd',
  username: 'u',
  password: undefined,
  ssl: 'require',
} as const;
let folders: Folders | undefined;

afterEach(() => folders?.remove());

function withFile(text: string, mode = 0o600): { readonly env: Record<string, string>; readonly path: string } {
  folders = makeFolders();
  const path = join(folders.home, '.pgpass');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return { env: { HOME: folders.home }, path };
}

test('PGPASSWORD comes before the password file', () => {
  const { env } = withFile('*:*:*:*:file');
  expect(findPgPassword(source, { ...env, PGPASSWORD: 'said' }, 'linux').password?.reveal()).toBe('said');
  expect(findPgPassword(source, { ...env, PGPASSWORD: '' }, 'linux').password?.reveal()).toBe('file');
});

test('PGPASSFILE names another file', () => {
  const { env, path } = withFile('*:*:*:*:file');
  expect(findPgPassword(source, { PGPASSFILE: path }, 'linux').password?.reveal()).toBe('file');
  expect(findPgPassword(source, { ...env, PGPASSFILE: `${path}.none` }, 'linux')).toEqual({
    password: undefined,
    warning: undefined,
  });
});

test.each([0o640, 0o604, 0o660, 0o644])('a file of mode %o is passed over with a warning', (mode) => {
  const { env } = withFile('*:*:*:*:file', mode);
  const found = findPgPassword(source, env, 'linux');
  expect(found.password).toBeUndefined();
  expect(found.warning).toContain('chmod 600');
});

test('a directory in place of the password file gives a warning', () => {
  folders = makeFolders();
  mkdirSync(join(folders.home, '.pgpass'));
  const { password, warning = '' } = findPgPassword(source, { HOME: folders.home }, 'linux');
  expect(password).toBeUndefined();
  expectGolden('db-preflight', warning.replace(folders.home, '/home/user'));
});

test('Windows keeps it with the application data, and knows no modes', () => {
  folders = makeFolders();
  mkdirSync(join(folders.home, 'postgresql'));
  const path = join(folders.home, 'postgresql', 'pgpass.conf');
  writeFileSync(path, '*:*:*:*:file\r\n', { mode: 0o644 });
  expect(findPgPassword(source, { APPDATA: folders.home }, 'win32').password?.reveal()).toBe('file');
});

test.each([
  ['db.example.com:5432:d:u:p', 'p'],
  ['*:*:*:*:p', 'p'],
  ['other:*:*:*:x\n*:*:*:u:p', 'p'],
  ['#db.example.com:5432:d:u:x\n*:*:*:*:p', 'p'],
  ['*:*:*:*:first\n*:*:*:*:second', 'first'],
  ['*:5433:*:*:x', undefined],
  ['\\*:*:*:*:x', undefined],
  ['*:*:*:*:', undefined],
  ['*:*:*:*:\n*:*:*:*:p', undefined],
  ['*:*:*:u', undefined],
  ['', undefined],
  ['*:*:*:*:a\\:b\\\\c', 'a:b\\c'],
  ['*:*:*:*:a:b', 'a'],
  ['*:*:*:*: spaces are kept ', ' spaces are kept '],
  ['*:*:*:*:p\r\n', 'p'],
  ['*:*:*:*:p\\', 'p\\'],
])('the password in %j is %j', (text, password) => {
  expect(searchPgpass(text, source)).toBe(password);
});

test('every escaped password and name is unescaped', () => {
  const texts = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[\r\n]/.test(text));
  const escaped = (text: string) => text.replace(/[\\:]/g, '\\$&');
  fc.assert(
    fc.property(texts, texts, texts, (dbname, username, password) => {
      const line = ['h', '*', escaped(dbname), escaped(username), escaped(password)].join(':');
      expect(searchPgpass(line, { host: 'h', port: 1, dbname, username })).toBe(password);
    }),
  );
});
