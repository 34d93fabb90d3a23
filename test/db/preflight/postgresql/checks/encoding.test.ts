import { expect, test } from 'vitest';
import { encodingCheck } from '../../../../../src/db/preflight/postgresql/checks/encoding.ts';
import { featuresQuery } from '../../../../../src/db/preflight/postgresql/queries/database-overview.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { database, preflightOptions, scannedDatabase, short, sourceFacts } from '../facts.ts';

test.each([
  { name: 'd1', is: 'UTF8', tables: 1, verdict: 'pass' },
  { name: 'd1', is: 'LATIN1', tables: 1, verdict: 'pass' },
  { name: 'd1', is: 'SQL_ASCII', tables: 1, verdict: 'warn' },
  { name: 'postgres', is: 'SQL_ASCII', tables: 1, verdict: 'fail continuous+dump' },
  { name: 'defaultdb', is: 'SQL_ASCII', tables: 1, verdict: 'fail continuous+dump' },
  { name: 'postgres', is: 'SQL_ASCII', tables: 0, verdict: 'warn' },
])('$name in $is with $tables tables: $verdict', ({ name, is, tables, verdict }) => {
  const facts = {
    databases: [database(name, { encoding: is })],
    overview: { ...featuresQuery.absent, tables },
    rawTexts: [],
  };
  expect(short(encodingCheck.evaluate(facts, name, sourceFacts(), preflightOptions()))).toBe(verdict);
});

const invalid = [{ table: 'public.t', column: 'x', rows: 3 }];
const unread = [{ table: 'public.u', reason: 'locked', message: '' }] as const;

test.each([
  { name: 'd1', what: 'valid UTF-8', scan: {}, verdict: 'warn' },
  { name: 'd1', what: 'other bytes', scan: { invalid }, verdict: 'warn' },
  { name: 'd1', what: 'an unread table', scan: { unread }, verdict: 'warn' },
  { name: 'postgres', what: 'valid UTF-8', scan: {}, verdict: 'warn' },
  { name: 'postgres', what: 'other bytes', scan: { invalid }, verdict: 'fail continuous+dump' },
  { name: 'postgres', what: 'an unread table', scan: { unread }, verdict: 'fail continuous+dump' },
])('with --deep, $name with $what in SQL_ASCII: $verdict', ({ name, scan, verdict }) => {
  const values = {
    databases: [database(name, { encoding: 'SQL_ASCII' })],
    overview: { ...featuresQuery.absent, tables: 1 },
    rawTexts: [],
  };
  const scans = new Map([[name, scannedDatabase({ encoding: 'SQL_ASCII', ...scan })]]);
  const outcome = encodingCheck.evaluate(values, name, sourceFacts({ scans }), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});
