import { expect, test } from 'vitest';
import { CliError } from '../../../../src/base/errors.ts';
import { nearestWord } from '../../../../src/cli/values.ts';
import { databasesToMigrate } from '../../../../src/db/preflight/postgresql/each-database.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { database } from './facts.ts';

const databases = ['app', 'billing', 'postgres'].map((name) => database(name));

function refusal(ignored: readonly string[]): CliError {
  try {
    databasesToMigrate(databases, ignored, nearestWord);
  } catch (error) {
    if (error instanceof CliError) return error;
  }
  throw new Error('nothing was refused');
}

test('every database is selected but the ignored', () => {
  expect(databasesToMigrate(databases, ['billing', 'template1'], nearestWord)).toEqual(['app', 'postgres']);
});

test('an ignored name that no database has is refused, with the closest one', () => {
  const { code, message, detail, hint } = refusal(['biling']);
  expect(code).toBe('usage');
  expect(hint).toContain('"billing"');
  expectGolden('db-preflight', [message, detail, hint].join('\n'));
});

test('names are compared as the server compares them, upper and lower case included', () => {
  expect(refusal(['Postgres']).message).toContain('"Postgres"');
});

test('ignoring every database is refused', () => {
  const { code, message, hint } = refusal(['app', 'billing', 'postgres']);
  expect(code).toBe('usage');
  expectGolden('db-preflight', [message, hint].join('\n'));
});
