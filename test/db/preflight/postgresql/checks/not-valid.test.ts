import { notValidCheck } from '../../../../../src/db/preflight/postgresql/checks/not-valid.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const loud = {
  name: 'c',
  owner: 'public.t',
  definition: 'CHECK ((b < 10)) NOT VALID',
  ofDomain: false,
  inArrays: false,
  foreignKey: false,
  rows: 'violate',
} as const;

testDatabaseCases([
  ...(
    [
      ['violate', 'fail continuous+dump'],
      ['unseen', 'unknown'],
      ['fit', 'warn'],
    ] as const
  ).map(([rows, verdict]) => ({
    what: `a column that takes NULL where its parent does not: ${rows}`,
    ...forBothMethods(notValidCheck, {
      unvalidated: [{ ...loud, rows: 'fit' }],
      looserColumns: [{ table: 'public.c', column: 'a', rows }],
    }),
    verdict,
  })),
  {
    what: 'valid constraints',
    ...forBothMethods(notValidCheck, { looserColumns: [], unvalidated: [] }),
    verdict: 'pass',
  },
  ...(
    [
      ['violate', 'fail continuous+dump'],
      ['unseen', 'unknown'],
      ['fit', 'info'],
      ['none', 'info'],
    ] as const
  ).map(([rows, verdict]) => ({
    what: `a NOT VALID constraint and its rows: ${rows}`,
    ...forBothMethods(notValidCheck, { looserColumns: [], unvalidated: [{ ...loud, rows }] }),
    verdict,
  })),
  {
    what: 'a NOT VALID foreign key',
    ...forBothMethods(notValidCheck, {
      looserColumns: [],
      unvalidated: [{ ...loud, rows: 'unseen', foreignKey: true }],
    }),
    verdict: 'info',
  },
]);
