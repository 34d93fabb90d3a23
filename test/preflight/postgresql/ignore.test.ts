import { expect, test } from 'vitest';
import { nearest } from '../../../src/cli/suggest.ts';
import { chosen } from '../../../src/preflight/postgresql/ignore.ts';
import { database } from './facts.ts';

const databases = ['app', 'billing', 'postgres'].map((name) => database(name));

test('every database is migrated but the ignored', () => {
  expect(chosen(databases, ['billing', 'template1'], nearest)).toEqual(['app', 'postgres']);
});

test('a name that no database has ends the run, with the one that was meant', () => {
  expect(() => chosen(databases, ['biling'], nearest)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'the source has no database "biling" to ignore',
      hint: 'did you mean "billing"?',
      detail: 'databases of the source: app, billing, postgres',
    }),
  );
});

test('names are compared as the server does, upper and lower case included', () => {
  expect(() => chosen(databases, ['Postgres'], nearest)).toThrow('"Postgres"');
});

test('something must be left to migrate', () => {
  expect(() => chosen(databases, ['app', 'billing', 'postgres'], nearest)).toThrow('nothing is left to migrate');
});
