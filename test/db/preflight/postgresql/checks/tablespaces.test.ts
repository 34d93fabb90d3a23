import { expect, test } from 'vitest';
import { tablespacesCheck } from '../../../../../src/db/preflight/postgresql/checks/tablespaces.ts';
import { relations } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

test('a tablespace is named, of the database itself too', () => {
  const tablespaces = { names: new Map([['16400', 'Fast Disk']]), databases: new Map([['d2', 'Fast Disk']]) };
  const placed = [{ name: 'public.t', tablespace: '16400' }];
  const judge = (database: string, there = placed) =>
    tablespacesCheck.evaluate(
      { ...relations({ placed: there }), tablespaces },
      database,
      sourceFacts(),
      preflightOptions(),
    );
  expect(judge('d1')).toMatchObject({ status: 'unknown', observed: 'Fast Disk', objects: ['public.t (Fast Disk)'] });
  expect(judge('d2', []).status).toBe('warn');
  expect(judge('d1', []).status).toBe('pass');
});
