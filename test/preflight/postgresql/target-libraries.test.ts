import { expect, test } from 'vitest';
import { untrustedLangCheck } from '../../../src/preflight/postgresql/checks/untrusted-lang.ts';
import { isLibraryMissing } from '../../../src/preflight/postgresql/target-libraries.ts';
import { preflightOptions, short, sourceFacts } from './facts.ts';

const offered = ['pgcrypto', 'postgis', 'intarray', 'plperl'];

test.each([
  { library: '$libdir/pgcrypto', lacking: false },
  { library: 'pgcrypto', lacking: false },
  { library: '$libdir/postgis-3', lacking: false },
  { library: '$libdir/_int', lacking: false },
  { library: '$libdir/plperl.so', lacking: false },
  { library: '$libdir/plpgsql', lacking: false },
  { library: '$libdir/utf8_and_johab', lacking: false },
  { library: '$libdir/adminpack', lacking: true },
  { library: '$libdir/own/code', lacking: true },
  { library: '/opt/own/code.so', lacking: true },
])('$library is lacking on a target with these extensions: $lacking', ({ library, lacking }) => {
  expect(isLibraryMissing(library, offered)).toBe(lacking);
});

test.each([
  { library: '$libdir/pgcrypto', told: offered, verdict: 'warn' },
  { library: '$libdir/adminpack', told: offered, verdict: 'fail continuous+dump' },
  { library: '$libdir/adminpack', told: undefined, verdict: 'warn' },
  { library: '/opt/own/code.so', told: undefined, verdict: 'fail continuous+dump' },
])('a function in C of $library, the target told $told: $verdict', ({ library, told, verdict }) => {
  const coded = { name: 'public.f()', owner: 'postgres', securityDefiner: false, untrusted: 'c', library, locales: [] };
  const facts = { untrustedLanguages: [], markedFunctions: [coded] };
  const outcome = untrustedLangCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ targetExtensions: told }));
  expect(short(outcome)).toBe(verdict);
});
