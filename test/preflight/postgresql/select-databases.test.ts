import { expect, test } from 'vitest';
import { nearestWord } from '../../../src/cli/suggest.ts';
import { selectDatabases } from '../../../src/preflight/postgresql/select-databases.ts';
import { database } from './facts.ts';

const databases = ['app', 'billing', 'postgres'].map((name) => database(name));

test('every database is migrated but the ignored', () => {
  expect(selectDatabases(databases, ['billing', 'template1'], nearestWord)).toEqual(['app', 'postgres']);
});

test('a name that no database has ends the run, with the one that was meant', () => {
  expect(() => selectDatabases(databases, ['biling'], nearestWord)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'the source has no database "biling" to ignore',
      hint: 'did you mean "billing"?',
      detail: 'databases of the source: app, billing, postgres',
    }),
  );
});

test('names are compared as the server does, upper and lower case included', () => {
  expect(() => selectDatabases(databases, ['Postgres'], nearestWord)).toThrow('"Postgres"');
});

test('something must be left to migrate', () => {
  expect(() => selectDatabases(databases, ['app', 'billing', 'postgres'], nearestWord)).toThrow(
    'nothing is left to migrate',
  );
});
