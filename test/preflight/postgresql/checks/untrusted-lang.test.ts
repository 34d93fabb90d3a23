import { expect, test } from 'vitest';
import { untrustedLangCheck } from '../../../../src/preflight/postgresql/checks/untrusted-lang.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const loose = {
  name: 'public.f()',
  owner: 'postgres',
  securityDefiner: true,
  untrusted: undefined,
  library: undefined,
  locales: [],
  superuserSettings: [],
};

testDatabaseCases([
  {
    what: 'trusted languages',
    ...forBothMethods(untrustedLangCheck, { untrustedLanguages: [], markedFunctions: [loose] }),
    verdict: 'pass',
  },
  {
    what: 'a language',
    ...forBothMethods(untrustedLangCheck, {
      untrustedLanguages: [{ name: 'plpython3u', bare: false }],
      markedFunctions: [],
    }),
    verdict: 'warn',
  },
  {
    what: 'a function in C',
    ...forBothMethods(untrustedLangCheck, { untrustedLanguages: [], markedFunctions: [{ ...loose, untrusted: 'c' }] }),
    verdict: 'warn',
  },
]);

const offered = ['pgcrypto', 'postgis', 'intarray', 'plperl'];

test.each([
  { library: '$libdir/pgcrypto', told: offered, verdict: 'warn' },
  { library: '$libdir/adminpack', told: offered, verdict: 'fail continuous+dump' },
  { library: '$libdir/adminpack', told: undefined, verdict: 'warn' },
  { library: '/opt/own/code.so', told: undefined, verdict: 'fail continuous+dump' },
])('a C function of $library, --target-extensions $told: $verdict', ({ library, told, verdict }) => {
  const coded = {
    name: 'public.f()',
    owner: 'postgres',
    securityDefiner: false,
    untrusted: 'c',
    library,
    locales: [],
    superuserSettings: [],
  };
  const facts = { untrustedLanguages: [], markedFunctions: [coded] };
  const outcome = untrustedLangCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ targetExtensions: told }));
  expect(short(outcome)).toBe(verdict);
});
