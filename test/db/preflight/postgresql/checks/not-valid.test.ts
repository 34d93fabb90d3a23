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
      shortComposites: [],
      looserColumns: [{ table: 'public.c', column: 'a', rows }],
    }),
    verdict,
  })),
  {
    what: 'valid constraints',
    ...forBothMethods(notValidCheck, { shortComposites: [], looserColumns: [], unvalidated: [] }),
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
    ...forBothMethods(notValidCheck, { shortComposites: [], looserColumns: [], unvalidated: [{ ...loud, rows }] }),
    verdict,
  })),
  {
    what: 'an attribute that refuses NULL, added to a composite type',
    ...forBothMethods(notValidCheck, {
      looserColumns: [],
      unvalidated: [],
      shortComposites: [{ table: 'public.t', column: 'p', attribute: 'public.pair.b' }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'a NOT VALID foreign key',
    ...forBothMethods(notValidCheck, {
      shortComposites: [],
      looserColumns: [],
      unvalidated: [{ ...loud, rows: 'unseen', foreignKey: true }],
    }),
    verdict: 'info',
  },
]);
