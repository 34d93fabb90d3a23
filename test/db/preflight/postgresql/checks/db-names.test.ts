import { expect, test } from 'vitest';
import { dbNamesCheck } from '../../../../../src/db/preflight/postgresql/checks/db-names.ts';
import { database, preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { name: 'd1', is: {}, verdict: 'pass' },
  { name: 'My-DB', is: {}, verdict: 'pass' },
  { name: 'a'.repeat(41), is: {}, verdict: 'pass' },
  { name: 'a'.repeat(42), is: {}, verdict: 'warn' },
])('a database called $name: $verdict', ({ name, is, verdict }) => {
  expect(
    short(dbNamesCheck.evaluate({ databases: [database(name, is)] }, name, sourceFacts(), preflightOptions())),
  ).toBe(verdict);
});
