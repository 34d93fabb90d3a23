import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  identifySystemSql,
  omitControlResults,
  probeSql,
  readOnlySql,
  rollbackSql,
  sessionSetupSql,
  showVersionSql,
} from '../../src/postgresql/search-path-safe-sql.ts';
import { isPinnedTransaction, pinRules, readOnlyPin } from '../fixtures/pin-rules.ts';

test('a read-only transaction begins with the pin and ends with COMMIT', () => {
  const text = readOnlySql(['SELECT 1  \n\n\n', 'COPY s.t (a) TO STDOUT'], {
    statement_timeout: '15s',
  });
  expect(isPinnedTransaction(text)).toBe(true);
  expect(text.split('; ').slice(-4)).toEqual([
    "SET LOCAL statement_timeout='15s'",
    'SELECT 1',
    'COPY s.t (a) TO STDOUT',
    'COMMIT',
  ]);
});

test('settings that change the text of the catalogs are set in every transaction, and a caller may replace them', () => {
  const text = readOnlySql(['SELECT 1'], { extra_float_digits: '0' });
  for (const name of [
    'quote_all_identifiers',
    'datestyle',
    'intervalstyle',
    'timezone',
    'standard_conforming_strings',
  ]) {
    expect(text).toContain(`; SET LOCAL ${name}='`);
  }
  expect(text.match(/extra_float_digits='[^']*'/g)).toEqual(["extra_float_digits='0'"]);
  expect(probeSql('SELECT 1')).toBe(`${readOnlyPin}SELECT 1; COMMIT`);
});

test('the results of the statements are those before COMMIT', () => {
  expect(omitControlResults(['BEGIN', 'SET', 'SET', 'a', 'b', 'COMMIT'], 2)).toEqual(['a', 'b']);
});

test('every other message resolves no name, or pins the session', () => {
  for (const text of [rollbackSql, showVersionSql]) {
    const rules = pinRules({ replication: false });
    expect(rules.refuse(text)).toBeUndefined();
    expect(rules.refuse('SELECT 1')).toBeDefined();
  }
  expect(pinRules({ replication: true }).refuse(identifySystemSql)).toBeUndefined();
  const session = pinRules({ replication: false });
  expect([session.refuse(sessionSetupSql), session.refuse('SELECT 1')]).toEqual([undefined, undefined]);
});

test('only pinned sessions send any text, and only the connection uses the client', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const using = (text: string) =>
    files.filter((path) => readFileSync(join('src', path), 'utf8').includes(text)).toSorted();
  expect(using('markSafeSql')).toEqual([
    'postgresql/search-path-safe-session.ts',
    'postgresql/search-path-safe-sql.ts',
  ]);
  expect(using("import('./pg.ts')")).toEqual(['postgresql/connection.ts']);
  expect(using('client.query(')).toEqual(['postgresql/statement.ts']);
  expect(using('as SafeSql')).toEqual(['postgresql/search-path-safe-sql.ts']);
});
