import { expect, test } from 'vitest';
import { untrustedLangCheck } from '../../../../../src/db/preflight/postgresql/checks/untrusted-lang.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

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
    what: 'a language of an extension without functions',
    ...forBothMethods(untrustedLangCheck, {
      untrustedLanguages: [{ name: 'plpython3u', bare: false }],
      markedFunctions: [],
    }),
    verdict: 'pass',
  },
  {
    what: 'a language without an extension',
    ...forBothMethods(untrustedLangCheck, {
      untrustedLanguages: [{ name: 'plperlu', bare: true }],
      markedFunctions: [],
    }),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a function in C',
    ...forBothMethods(untrustedLangCheck, { untrustedLanguages: [], markedFunctions: [{ ...loose, untrusted: 'c' }] }),
    verdict: 'fail continuous+dump',
  },
]);

const extension = { version: '1.3', isTrusted: true, schema: undefined, requires: [] };
const extensions = new Map(['pgcrypto', 'postgis', 'intarray', 'plperlu'].map((name) => [name, extension]));

test.each([
  { library: '$libdir/pgcrypto', isSuperuser: true, verdict: 'warn' },
  { library: '$libdir/adminpack', isSuperuser: true, verdict: 'fail continuous+dump' },
  { library: '/opt/own/code.so', isSuperuser: true, verdict: 'fail continuous+dump' },
  { library: '$libdir/pgcrypto', isSuperuser: false, verdict: 'fail continuous+dump' },
])('a C function of $library, target with a superuser: $isSuperuser: $verdict', ({ library, isSuperuser, verdict }) => {
  const coded = { ...loose, securityDefiner: false, untrusted: 'c', library };
  const target = { host: 'staging', port: 5432, postgresql: postgresqlTarget({ extensions, isSuperuser }) };
  const facts = { untrustedLanguages: [], markedFunctions: [coded] };
  const outcome = untrustedLangCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ target }));
  expect(short(outcome)).toBe(verdict);
});

test.each([
  { language: 'plperlu', isSuperuser: true, verdict: 'warn' },
  { language: 'plwild', isSuperuser: true, verdict: 'fail continuous+dump' },
  { language: 'plperlu', isSuperuser: false, verdict: 'fail continuous+dump' },
])('language $language, target with a superuser: $isSuperuser: $verdict', ({ language, isSuperuser, verdict }) => {
  const target = { host: 'staging', port: 5432, postgresql: postgresqlTarget({ extensions, isSuperuser }) };
  const facts = { untrustedLanguages: [{ name: language, bare: true }], markedFunctions: [] };
  const outcome = untrustedLangCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ target }));
  expect(short(outcome)).toBe(verdict);
});

test('the name of the language in --target-extensions does not make its functions creatable', () => {
  const facts = {
    untrustedLanguages: [{ name: 'plperlu', bare: false }],
    markedFunctions: [{ ...loose, untrusted: 'plperlu' }],
  };
  const options = preflightOptions({ targetExtensions: ['plperlu', 'plperlu=1.0'] });
  expect(short(untrustedLangCheck.evaluate(facts, 'd1', sourceFacts(), options))).toBe('fail continuous+dump');
});
