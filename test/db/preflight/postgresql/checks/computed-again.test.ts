import { expect, test } from 'vitest';
import { computedAgainCheck } from '../../../../../src/db/preflight/postgresql/checks/computed-again.ts';
import type { StoredExpression } from '../../../../../src/db/preflight/postgresql/queries/stored-expressions.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { callable, storedExpression } from '../expressions.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const old = { xmin: 600, cmin: 0, xmax: 0 };
const since = { xmin: 700, cmin: 0, xmax: 0 };

function evaluate(more: Partial<StoredExpression>, targetVersion?: string) {
  const generated = { kind: 'generated', name: 'column public.t.g', columns: ['g'], key: ['id'] } as const;
  return computedAgainCheck.evaluate(
    {
      expressions: [storedExpression({ ...generated, ...more })],
      callables: {
        objects: [callable({ versions: [{ xmin: 700, cmin: 0, xmax: 0 }] })],
        isOrderKnown: true,
        alteredSearch: [],
      },
      alteredDictionaries: [],
      functionBodies: [],
      settings: settings({}),
      roleSettings: [],
      databases: [],
    },
    'd1',
    sourceFacts(),
    preflightOptions({ targetVersion }),
  );
}

test('the dependency of the column proves nothing, the age of the table does', () => {
  const uses = [{ on: '1255:16400', since: { xmin: 900, cmin: 0, xmax: 0 } }];
  expect(short(evaluate({ uses, age: { xmin: 701, cmin: 0, xmax: 0 } }))).toBe('pass');
  const outcome = evaluate({ uses, age: { xmin: 699, cmin: 0, xmax: 0 } });
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
  expect(outcome.detail).toMatch(/SELECT md5\(string_agg\(.* FROM ONLY "public"\."t";/);
});

test.each([
  ['quote_ident(v)', undefined, 'unknown'],
  ['quote_ident(v)', '18', 'unknown'],
  // The source of these facts is PostgreSQL 17.
  ['quote_ident(v)', '17', 'pass'],
  ["(ts AT TIME ZONE 'Europe/Berlin'::text)", '17', 'unknown'],
  ["(ts AT TIME ZONE 'UTC'::text)", undefined, 'pass'],
  ["timezone('Asia/Tokyo'::text, ts)", undefined, 'unknown'],
  ["(ts AT TIME ZONE '02:00:00'::interval)", undefined, 'pass'],
  ["md5('lower(x) ^ [[:alpha:]]'::text)", undefined, 'pass'],
] as const)('%s, target %s: %s', (text, targetVersion, verdict) => {
  expect(short(evaluate({ texts: [text] }, targetVersion))).toBe(verdict);
});

test.each(['declaration', 'number'] as const)('a hidden %s differs between servers', (hidden) => {
  const outcome = evaluate({ texts: ['md5(v)'], hidden }, '17');
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
});

test.each([
  { body: 'SELECT md5($1::text)', language: 'sql', is: 'unknown' },
  { body: 'SELECT md5((x)::text)', language: 'sql', is: 'unknown' },
  { body: 'SELECT md5(CAST(x AS varchar))', language: 'sql', is: 'unknown' },
  { body: 'SELECT XMLSERIALIZE(CONTENT $1 AS text)', language: 'sql', is: 'unknown' },
  { body: 'DECLARE t text := $1; BEGIN RETURN md5(t); END', language: 'plpgsql', is: 'unknown' },
  { body: "SELECT (xpath('/a', $1))[1]::text", language: 'sql', is: 'pass' },
  { body: "BEGIN RETURN CAST((xpath('/a', $1))[1] AS text); END", language: 'plpgsql', is: 'pass' },
  { body: 'SELECT hashenum($1)', language: 'sql', is: 'unknown' },
] as const)('a function with an XML argument, $body: $is', ({ body, language, is }) => {
  const one = { id: '1255:16400', language, body, versions: [{ xmin: 500, cmin: 0, xmax: 0 }] };
  const uses = [{ on: '1255:16400', since: { xmin: 900, cmin: 0, xmax: 0 } }];
  const values = {
    expressions: [storedExpression({ kind: 'generated', uses, age: { xmin: 701, cmin: 0, xmax: 0 } })],
    callables: { objects: [callable(one)], isOrderKnown: true, alteredSearch: [] },
    alteredDictionaries: [],
    functionBodies: [
      {
        ...{
          oid: '16400',
          schema: 'public',
          name: 'f',
          signature: 'public.f(xml)',
          isView: false,
          language,
          text: body,
        },
        ...{
          bound: '',
          hasPath: false,
          hasZone: false,
          hasRole: false,
          inlined: false,
          calls: [],
          types: ['xml'],
          names: [],
        },
      },
    ],
    settings: settings({}),
    roleSettings: [],
    databases: [],
  };
  const outcome = computedAgainCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ targetVersion: '17' }));
  expect(short(outcome)).toBe(is);
});

test('letter case differs between servers, and not with the collation C', () => {
  expect(short(evaluate({ texts: ['lower(v)'], isLettered: true }, '17'))).toBe('unknown');
  expect(short(evaluate({ texts: ['lower(v)'], isLettered: false }, undefined))).toBe('pass');
});

test('the version of an extension that is not part of PostgreSQL is not that of the release', () => {
  const evaluateOf = (extension: string) => {
    const expressions = [storedExpression({ kind: 'generated', uses: [{ on: '1255:16400', since: old }], age: since })];
    const objects = [callable({ language: 'c', extension, name: 'f', versions: [old] })];
    const values = {
      expressions,
      callables: { objects, isOrderKnown: true, alteredSearch: [] },
      alteredDictionaries: [],
      functionBodies: [],
      settings: settings({}),
      roleSettings: [],
      databases: [],
    };
    return computedAgainCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ targetVersion: '17' }));
  };
  expect(short(evaluateOf('postgis'))).toBe('unknown');
  expect(short(evaluateOf('unaccent'))).toBe('pass');
  expect(short(evaluateOf('cube'))).toBe('pass');
});

test('a text search document is right when it is computed again', () => {
  expect(short(evaluate({ texts: ["to_tsvector('english'::regconfig, v)"], type: 'tsvector' }))).toBe('pass');
  expect(short(evaluate({ texts: ["length(to_tsvector('english'::regconfig, v))"], type: 'integer' }))).toBe('unknown');
});
