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

const key = { from: 'public.p', to: 'public.r', emptiedWith: ['public.r'], truncated: false };

testDatabaseCases([
  {
    what: 'no partitions',
    ...forBothMethods(partitionsCheck, { keys: [], bodies: [], ddl: [], partitions: [] }),
    verdict: 'pass',
  },
  {
    what: 'partitions by range',
    ...forBothMethods(partitionsCheck, { keys: [], bodies: [], ddl: [], partitions: [range] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'partitions by range that a function creates, which is the finding of ddl-activity',
    ...forBothMethods(partitionsCheck, {
      ...{ keys: [], bodies: [], partitions: [range] },
      ddl: [{ by: 'public.f()', statements: ['CREATE TABLE'], partition: true }],
    }),
    verdict: 'info',
  },
  {
    what: 'partitions by hash',
    ...forBothMethods(partitionsCheck, {
      keys: [],
      bodies: [],
      ddl: [],
      partitions: [{ ...range, strategy: 'hash' as const }],
    }),
    verdict: 'pass',
  },
  {
    what: 'partitions of a table with an EXCLUDE constraint',
    ...forBothMethods(partitionsCheck, {
      keys: [],
      bodies: [],
      ddl: [],
      partitions: [{ ...range, excluding: 'bookings_excl' }],
    }),
    verdict: 'fail continuous+dump',
    dumped: 'fail continuous+dump',
  },
  {
    what: 'a table with an EXCLUDE constraint that has no partition yet',
    ...forBothMethods(partitionsCheck, {
      keys: [],
      bodies: [],
      ddl: [],
      partitions: [{ ...range, partitions: 0, excluding: 'bookings_excl' }],
    }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'a partition whose detachment was interrupted',
    ...forBothMethods(partitionsCheck, {
      keys: [],
      bodies: [],
      ddl: [],
      partitions: [{ ...range, detaching: ['public."The part"'] }],
    }),
    verdict: 'warn',
  },
  {
    what: 'a foreign key of a partitioned table',
    ...forBothMethods(partitionsCheck, { partitions: [range], keys: [key], bodies: [], ddl: [] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'a foreign key of a table that is partitioned by hash',
    ...forBothMethods(partitionsCheck, {
      partitions: [{ ...range, strategy: 'hash' as const }],
      keys: [key],
      bodies: [],
      ddl: [],
    }),
    verdict: 'warn',
    dumped: 'pass',
  },
  {
    what: 'a foreign key of a partitioned table to a table that was truncated',
    ...forBothMethods(partitionsCheck, {
      partitions: [range],
      keys: [{ ...key, truncated: true }],
      bodies: [],
      ddl: [],
    }),
    verdict: 'unknown',
    dumped: 'info',
  },
  {
    what: 'a foreign key of a partitioned table to a table that a function truncates',
    ...forBothMethods(partitionsCheck, {
      partitions: [range],
      keys: [key],
      ddl: [],
      bodies: [{ by: 'public.f()', verb: 'truncate' as const, table: ['r'] }],
    }),
    verdict: 'unknown',
    dumped: 'info',
  },
]);
