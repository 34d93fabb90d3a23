import { expect, test } from 'vitest';
import { checkedAgainCheck } from '../../../../../src/db/preflight/postgresql/checks/checked-again.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { callable, storedExpression } from '../expressions.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const since = { xmin: 700, cmin: 5, xmax: 0 };

function evaluate(version: { xmin: number; cmin: number; xmax: number }, isOrderKnown = true, more = {}) {
  const expressions = [storedExpression({ uses: [{ on: '1255:16400', since }], ...more })];
  const callables = { objects: [callable({ versions: [version] })], isOrderKnown, alteredSearch: [] };
  return checkedAgainCheck.evaluate(
    { expressions, callables, alteredDictionaries: [], functionBodies: [], settings: settings({}), roleSettings: [] },
    'd1',
    sourceFacts(),
    preflightOptions({ targetVersion: '17' }),
  );
}

test.each([
  ['in an earlier transaction', { xmin: 699, cmin: 9, xmax: 0 }, 'pass'],
  ['in an earlier transaction, and a replacement was rolled back', { xmin: 699, cmin: 9, xmax: 705 }, 'pass'],
  ['in a later transaction', { xmin: 701, cmin: 0, xmax: 0 }, 'unknown'],
  ['by an earlier command of the same transaction', { xmin: 700, cmin: 4, xmax: 0 }, 'pass'],
  ['by a later command of the same transaction', { xmin: 700, cmin: 6, xmax: 0 }, 'unknown'],
  ['in the same transaction by an unknown command', { xmin: 700, cmin: 4, xmax: 705 }, 'unknown'],
] as const)('a function that was written %s: %s', (_when, version, verdict) => {
  expect(short(evaluate(version))).toBe(verdict);
});

test('without the order of the catalog rows, nothing is proven', () => {
  const outcome = evaluate({ xmin: 1, cmin: 0, xmax: 0 }, false);
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
});

test.each([
  ['an attribute that is older', { xmin: 699, cmin: 0, xmax: 0 }, {}, 'pass'],
  ['an attribute that was written by the same command', { xmin: 700, cmin: 5, xmax: 0 }, {}, 'pass'],
  ['an attribute that was written later', { xmin: 701, cmin: 0, xmax: 0 }, {}, 'unknown'],
  ['a label that was written later', { xmin: 701, cmin: 0, xmax: 0 }, { isEnum: true }, 'unknown'],
  ['one that was written later, in an index', { xmin: 701, cmin: 0, xmax: 0 }, { kind: 'index' }, 'pass'],
  ['an attribute without the order of the rows', { xmin: 1, cmin: 0, xmax: 0 }, { isOrderKnown: false }, 'unknown'],
  ['a label without it', { xmin: 1, cmin: 0, xmax: 0 }, { isOrderKnown: false, isEnum: true }, 'pass'],
] as const)('an expression of a type with %s: %s', (_what, version, more, verdict) => {
  const {
    isOrderKnown = true,
    isEnum = false,
    kind = 'check',
  }: Partial<Record<'isOrderKnown' | 'isEnum', boolean>> & {
    kind?: 'check' | 'index';
  } = more;
  const shapes = [{ version, isEnum, type: 'public.addr' }];
  expect(short(evaluate({ xmin: 1, cmin: 0, xmax: 0 }, isOrderKnown, { uses: [], shapes, since, kind }))).toBe(verdict);
});

test('the query of a hostile table name stays one statement', () => {
  const { detail = '' } = evaluate({ xmin: 701, cmin: 0, xmax: 0 }, true, { tables: ['public."a"";b"'] });
  expect(detail).toContain('FROM ONLY "public"."a"";b" OFFSET 0) "a"";b"');
});

test('generated columns belong to another check', () => {
  expect(short(evaluate({ xmin: 701, cmin: 0, xmax: 0 }, true, { kind: 'generated' }))).toBe('pass');
});

test('a function that another language calls in a statement counts', () => {
  const old = { xmin: 1, cmin: 0, xmax: 0 };
  const caller = callable({ name: 'caller', language: 'plpython3u', versions: [old] });
  const called = callable({ id: '1255:16401', versions: [{ xmin: 701, cmin: 0, xmax: 0 }] });
  const evaluateBody = (body: string) =>
    checkedAgainCheck.evaluate(
      {
        expressions: [storedExpression({ texts: ['public.caller(v)'], uses: [{ on: caller.id, since }] })],
        callables: { objects: [{ ...caller, body }, called], isOrderKnown: true, alteredSearch: [] },
        alteredDictionaries: [],
        functionBodies: [],
        settings: settings({}),
        roleSettings: [],
      },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    );
  expect(short(evaluateBody('return plpy.execute("SELECT public.f(1)")'))).toBe('unknown');
  expect(short(evaluateBody('f = 1; return f'))).toBe('pass');
});

test('a unique index with operators of its own, or with equal NULLs, has its own query or none', () => {
  const later = { xmin: 701, cmin: 0, xmax: 0 };
  const index = { kind: 'unique', texts: ['public.f(v)'] };
  expect(evaluate(later, true, index).detail).toContain('WHERE (public.f(v)) IS NOT NULL GROUP BY (public.f(v))');
  expect(evaluate(later, true, { ...index, isNullEqual: true }).detail).not.toContain('IS NOT NULL');
  expect(evaluate(later, true, { ...index, isComparable: false }).detail).not.toContain('SELECT');
});
