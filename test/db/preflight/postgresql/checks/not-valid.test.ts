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
      refusedNulls: [],
      looserColumns: [{ table: 'public.c', column: 'a', rows }],
    }),
    verdict,
  })),
  {
    what: 'valid constraints',
    ...forBothMethods(notValidCheck, { refusedNulls: [], looserColumns: [], unvalidated: [] }),
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
    ...forBothMethods(notValidCheck, { refusedNulls: [], looserColumns: [], unvalidated: [{ ...loud, rows }] }),
    verdict,
  })),
  ...(
    [
      ['violate', true, 'fail continuous+dump'],
      ['violate', false, 'unknown'],
      ['unseen', true, 'unknown'],
      ['fit', true, 'pass'],
    ] as const
  ).map(([rows, isCertain, verdict]) => ({
    what: `a domain that ${isCertain ? 'refuses' : 'may refuse'} NULL, and its rows: ${rows}`,
    ...forBothMethods(notValidCheck, {
      looserColumns: [],
      unvalidated: [],
      refusedNulls: [{ table: 'public.t', column: 'p', rawColumn: 'p', type: 'public.d', path: '', isCertain, rows }],
    }),
    verdict,
  })),
  {
    what: 'a NOT VALID foreign key',
    ...forBothMethods(notValidCheck, {
      refusedNulls: [],
      looserColumns: [],
      unvalidated: [{ ...loud, rows: 'unseen', foreignKey: true }],
    }),
    verdict: 'info',
  },
]);
