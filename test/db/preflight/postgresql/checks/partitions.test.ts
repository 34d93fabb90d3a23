import { partitionsCheck } from '../../../../../src/db/preflight/postgresql/checks/partitions.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const range = {
  name: 'public.p',
  strategy: 'range',
  partitions: 3,
  hasDefault: false,
  enumHashed: false,
  numbered: 'none',
  leaves: [],
  closed: false,
  excluding: undefined,
  detaching: [],
} as const;

testDatabaseCases([
  { what: 'no partitions', ...forBothMethods(partitionsCheck, { partitions: [] }), verdict: 'pass' },
  {
    what: 'partitions by range',
    ...forBothMethods(partitionsCheck, { partitions: [range] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'partitions by hash',
    ...forBothMethods(partitionsCheck, { partitions: [{ ...range, strategy: 'hash' as const }] }),
    verdict: 'pass',
  },
  {
    what: 'partitions of a table with an EXCLUDE constraint',
    ...forBothMethods(partitionsCheck, { partitions: [{ ...range, excluding: 'bookings_excl' }] }),
    verdict: 'fail continuous+dump',
    dumped: 'fail continuous+dump',
  },
  {
    what: 'a table with an EXCLUDE constraint that has no partition yet',
    ...forBothMethods(partitionsCheck, { partitions: [{ ...range, partitions: 0, excluding: 'bookings_excl' }] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'a partition whose detachment was interrupted',
    ...forBothMethods(partitionsCheck, { partitions: [{ ...range, detaching: ['public."The part"'] }] }),
    verdict: 'warn',
  },
]);
