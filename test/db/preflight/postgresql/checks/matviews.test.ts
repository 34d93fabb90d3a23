import { matviewsCheck } from '../../../../../src/db/preflight/postgresql/checks/matviews.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  { what: 'no materialized view', ...forBothMethods(matviewsCheck, relations()), verdict: 'pass' },
  {
    what: 'a materialized view',
    ...forBothMethods(matviewsCheck, relations({ matviews: [{ name: 'public.m', populated: false }] })),
    verdict: 'warn',
  },
]);
