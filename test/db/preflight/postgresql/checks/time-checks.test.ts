import { timeChecksCheck } from '../../../../../src/db/preflight/postgresql/checks/time-checks.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  ...[
    'b > now()',
    '(a = 1) AND (b >= CURRENT_DATE)',
    '(CURRENT_DATE)::timestamp with time zone < b',
    '(a < now()) AND (b > clock_timestamp())',
    'NOT (b <= now())',
    '(b IS NOT NULL) AND (b > now())',
    'NOT ((a = 1) OR (now() >= b))',
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
    what: 'a row that breaks a limit which is counted from now',
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [
        {
          name: 'c',
          owner: 'public.t',
          ofDomain: false,
          definition: "CHECK ((b > (now() - '1 day'::interval)))",
          rows: 'violate',
        },
      ],
    }),
    verdict: 'fail continuous+dump',
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
  ...[
    'NOT ((a = 1) AND (b <= now()))',
    "(now() - '1 day'::interval) <= b",
    "(b <= CURRENT_DATE) AND (b > (CURRENT_DATE - '150 years'::interval))",
    '(b <= now()) IS NOT TRUE',
    '(b > now()) IS FALSE',
    '(b > now()) = a',
    'COALESCE((b > now()), true)',
    "(b - now()) > '00:00:00'::interval",
    'CASE WHEN (b > now()) THEN false ELSE true END',
  ].map((text) => ({
    what: `CHECK (${text})`,
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
    }),
    verdict: 'unknown',
  })),
  ...[
    'b <= now()',
    'CURRENT_DATE > b',
    '(a < now()) AND (b < 5)',
    '(now() > a) OR (b <= 1)',
    'a = CURRENT_USER',
    'NOT (b > CURRENT_DATE)',
    'NOT ((b > now()) OR (a > now()))',
    'b <> now()',
    '(b IS NULL) OR (b <= CURRENT_TIMESTAMP)',
    'CASE WHEN (b IS NOT NULL) THEN (b <= now()) ELSE true END',
    'GREATEST(b, now()) = now()',
    '(CURRENT_DATE - b) > 6570',
    'EXTRACT(year FROM b) <= EXTRACT(year FROM CURRENT_DATE)',
    '(b = ANY (ARRAY[b])) AND (LOCALTIMESTAMP >= (b)::timestamp without time zone)',
    'now() >= COALESCE(a, b)',
  ].map((text) => ({
    what: `CHECK (${text})`,
    ...forBothMethods(timeChecksCheck, {
      clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
    }),
    verdict: 'pass',
  })),
]);
