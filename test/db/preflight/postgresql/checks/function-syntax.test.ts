import { expect, test } from 'vitest';
import {
  functionSyntaxCheck,
  laterSyntaxQuery,
} from '../../../../../src/db/preflight/postgresql/checks/function-syntax.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

const one = { oid: '1', signature: 'public.f(integer)', text: '1and', since: 15, fails: true };
const use = { calls: '1', kind: 'check', name: 'k on public.t', filled: true } as const;
const none = { functionUses: [], functionBodies: [] };

testDatabaseCases([
  { what: 'no such body', ...forBothMethods(functionSyntaxCheck, { ...none, laterSyntax: [] }), verdict: 'pass' },
  {
    what: 'a body that nothing calls',
    ...forBothMethods(functionSyntaxCheck, { ...none, laterSyntax: [one] }),
    verdict: 'warn',
  },
  {
    what: 'a body for stored rows',
    continuous: functionSyntaxCheck.evaluate(
      { ...none, laterSyntax: [one], functionUses: [use] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    ),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a body that may fail for stored rows',
    continuous: functionSyntaxCheck.evaluate(
      { ...none, laterSyntax: [{ ...one, fails: false }], functionUses: [use] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    ),
    verdict: 'unknown',
  },
]);

const names = [
  'json_array',
  'json_exists',
  'json_objectagg',
  'json_scalar',
  'json_table',
  'json_value',
  'merge_action',
];

test.each([
  ['SELECT 1and true', ['1and', true]],
  ['SELECT $1and true', ['$1and', true]],
  ['SELECT 1.5and true', ['1.5and', true]],
  ['SELECT 1e5and true', ['1e5and', true]],
  ['SELECT 1, 1.5, .5, 1e5, 1e+5, $1, $1.a, a1, 1::int4, 0x1F, 1_000, x[1:2]', undefined],
  ['SELECT \'1and\', "1and", $$1and$$ -- 1and', undefined],
  ["SELECT json_value(d, 'a.b')", ['json_value', true]],
  ["SELECT json_value(d, '$.a')", ['json_value', false]],
  ['SELECT json_exists(d, p)', ['json_exists', false]],
  ['SELECT json_scalar(1, 2)', ['json_scalar', true]],
  ['SELECT json_array(1)', ['json_array', false]],
  ['SELECT merge_action()', ['merge_action', true]],
  ["SELECT public.json_value(d, 'a.b')", undefined],
  ['SELECT "json_value"(d, \'a.b\')', undefined],
  ['SELECT json_value FROM t', undefined],
] as const)('%s', (body, expected) => {
  const row = { oid: '1', signature: 'f()', lanname: 'sql', body, is_strict: 'f', has_numbers: 't' };
  const [found] = laterSyntaxQuery.decode([{ ...row, names: `{${names.join(',')}}` }]);
  expect(found && [found.text, found.fails]).toEqual(expected);
});
