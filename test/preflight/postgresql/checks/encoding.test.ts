import { expect, test } from 'vitest';
import { encodingCheck } from '../../../../src/preflight/postgresql/checks/encoding.ts';
import { databaseOverviewQuery } from '../../../../src/preflight/postgresql/queries/database-overview.ts';
import { database, preflightOptions, short, sourceFacts } from '../facts.ts';

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
    overview: { ...databaseOverviewQuery.absent, tables },
    rawTexts: [],
  };
  expect(short(encodingCheck.evaluate(facts, name, sourceFacts(), preflightOptions()))).toBe(verdict);
});
