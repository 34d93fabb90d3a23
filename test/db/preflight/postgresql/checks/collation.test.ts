import { expect, test } from 'vitest';
import { collationCheck } from '../../../../../src/db/preflight/postgresql/checks/collation.ts';
import { database, postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'C', is: {}, verdict: 'pass' },
  { what: 'a usual locale', is: { collate: 'de_DE.UTF-8', ctype: 'de_DE.UTF-8' }, verdict: 'pass' },
  { what: 'as glibc writes it', is: { collate: 'en_US.utf8', ctype: 'C.UTF-8' }, verdict: 'pass' },
  { what: 'Windows', is: { collate: 'English_United States.1252' }, verdict: 'warn' },
  { what: 'ICU', is: { provider: 'i', locale: 'de-x-icu', collate: 'odd' }, verdict: 'pass' },
  { what: 'the same version', is: { collationVersion: '2.36', libraryVersion: '2.36' }, verdict: 'pass' },
  { what: 'another version', is: { collationVersion: '2.28', libraryVersion: '2.36' }, verdict: 'warn' },
])('collation, $what: $verdict', ({ is, verdict }) => {
  const facts = { databases: [database('d1', is)], collations: [], markedFunctions: [] };
  expect(short(collationCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a libc collation is listed, and an outdated one is refreshed', () => {
  const own = { name: 'public."German"', provider: 'c', version: undefined, libraryVersion: undefined };
  const facts = { databases: [database('d1')], collations: [own], markedFunctions: [] };
  expect(collationCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    objects: [own.name],
  });
  const stale = { ...facts, collations: [{ ...own, version: '1', libraryVersion: '2' }] };
  expect(collationCheck.evaluate(stale, 'd1', sourceFacts(), preflightOptions()).fix?.sql).toEqual([
    'ALTER COLLATION "public"."German" REFRESH VERSION',
  ]);
});

test.each([
  { collate: 'de_AT.UTF-8', locales: ['C', 'de_AT.utf8'], verdict: 'pass' },
  { collate: 'de_AT.UTF-8', locales: ['C'], verdict: 'unknown' },
  { collate: 'en_US.UTF-8', locales: ['C'], verdict: 'unknown' },
  { collate: 'C', locales: ['C'], verdict: 'pass' },
])('the locale $collate, and a target with $locales: $verdict', ({ collate, locales, verdict }) => {
  const values = {
    databases: [database('d1', { collate, ctype: collate })],
    collations: [],
    markedFunctions: [],
  };
  const target = { host: 'staging', port: 5432, postgresql: postgresqlTarget({ locales: new Set(locales) }) };
  expect(short(collationCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ target })))).toBe(verdict);
});

test.each([
  { locales: ['C', 'de_AT.utf8'], verdict: 'pass' },
  { locales: ['C'], verdict: 'fail continuous+dump' },
  { locales: undefined, verdict: 'warn' },
])(
  'a column in the collation de_AT.utf8 of the operating system, and a target with $locales: $verdict',
  ({ locales, verdict }) => {
    const used = { name: 'pg_catalog."de_AT.utf8"', imported: 'de_AT.utf8', provider: 'c' };
    const values = {
      databases: [database('d1')],
      collations: [{ ...used, version: undefined, libraryVersion: undefined }],
      markedFunctions: [],
    };
    const postgresql = locales === undefined ? undefined : postgresqlTarget({ locales: new Set(locales) });
    const options = preflightOptions({ target: { host: 'staging', port: 5432, postgresql } });
    const outcome = collationCheck.evaluate(values, 'd1', sourceFacts(), options);
    expect(short(outcome)).toBe(verdict);
  },
);
