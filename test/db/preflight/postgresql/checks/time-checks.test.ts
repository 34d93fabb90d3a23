import { timeChecksCheck } from '../../../../../src/db/preflight/postgresql/checks/time-checks.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  ...[
    'b > now()',
    "(now() - '1 day'::interval) <= b",
    '(a = 1) AND (b >= CURRENT_DATE)',
    '(CURRENT_DATE)::timestamp with time zone < b',
    '(a < now()) AND (b > clock_timestamp())',
  ].map((text) => ({
    what: `CHECK (${text})`,
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
    }),
    verdict: 'fail continuous+dump',
  })),
  {
    what: 'rows whose times are all far away',
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: 'CHECK ((b > now()))', rows: 'fit' }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'another condition of an OR',
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [
        { name: 'c', owner: 'public.t', ofDomain: false, definition: 'CHECK (((b > now()) OR (b IS NOT NULL)))' },
      ],
    }),
    verdict: 'unknown',
  },
  ...['b <= now()', 'CURRENT_DATE > b', '(a < now()) AND (b < 5)', '(now() > a) OR (b <= 1)', 'a = CURRENT_USER'].map(
    (text) => ({
      what: `CHECK (${text})`,
      ...forBothMethods(timeChecksCheck, {
        clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
      }),
      verdict: 'pass',
    }),
  ),
]);
