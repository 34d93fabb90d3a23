import { expect, test } from 'vitest';
import { searchPathCheck } from '../../../../../src/db/preflight/postgresql/checks/search-path.ts';
import type {
  NamedObject,
  ObjectBody,
  PathOperator,
  UnqualifiedOperatorUse,
} from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import type { FunctionUse } from '../../../../../src/db/preflight/postgresql/queries/function-uses.ts';
import { expectText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const object = { isReplaced: false, types: [] } as const;
const kinds: NamedObject = { ...object, kind: 'relation', schema: 'My "S', name: 'kinds' };
const plain: NamedObject = { ...object, kind: 'function', schema: 'public', name: 'plain' };

function body(oid: string, text: string, more: Partial<ObjectBody> = {}): ObjectBody {
  const name = `f${oid}`;
  const signature = `public.${name}(text)`;
  return {
    ...{ oid, schema: 'public', name, signature, isView: false, language: 'sql', text },
    ...{
      hasPath: false,
      bound: '',
      hasZone: false,
      hasRole: false,
      inlined: true,
      calls: [],
      types: [],
      names: [],
      ...more,
    },
  };
}

function use(calls: string, more: Partial<FunctionUse> = {}): FunctionUse {
  return { calls, kind: 'check', name: 't_check on public.t', filled: true, ...more };
}

function judged(
  functionUses: readonly FunctionUse[],
  functionBodies: readonly ObjectBody[],
  meanings = [kinds, plain],
  lostOperators: readonly PathOperator[] = [],
  bareOperators: readonly UnqualifiedOperatorUse[] = [],
) {
  return searchPathCheck.evaluate(
    { functionUses, functionBodies, meanings, lostOperators, bareOperators },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
}

const lost = 'SELECT EXISTS (SELECT FROM kinds)';

test('a name that only the search_path finds takes both ways where rows are to be copied', () => {
  const outcome = judged([use('1')], [body('1', lost)]);
  expect(short(outcome)).toBe('fail continuous+dump');
  expect(outcome).toMatchObject({
    observed: '1 function',
    objects: ['public.f1(text) (relation kinds; t_check on public.t)'],
  });
  expectText(outcome.detail);
  expect(outcome.fix).toMatchObject({
    database: 'd1',
    sql: ['ALTER FUNCTION "public"."f1"("text") SET search_path = "My ""S", "public", pg_temp'],
    undo: ['ALTER FUNCTION "public"."f1"("text") RESET search_path'],
  });
});

test('without rows only what the planner reads at once fails', () => {
  const empty = (kind: FunctionUse['kind'], more: Partial<ObjectBody> = {}) =>
    short(judged([use('1', { kind, filled: false })], [body('1', lost, more)]));
  expect(empty('index')).toBe('fail continuous+dump');
  expect(empty('generated')).toBe('fail continuous+dump');
  expect(empty('check')).toBe('warn');
  expect(empty('index', { inlined: false })).toBe('warn');
  expect(empty('index', { text: `SELECT 1; ${lost}` })).toBe('warn');
});

test('what nothing calls, names nothing, or has a search_path is no finding', () => {
  expect(judged([], [body('1', lost)]).status).toBe('pass');
  expect(judged([use('1')], [body('1', lost)], [plain]).status).toBe('pass');
  expect(judged([use('1')], [body('1', lost, { hasPath: true })]).status).toBe('pass');
  expect(judged([use('1')], [body('1', `SET LOCAL search_path = public; ${lost}`)]).status).toBe('pass');
  expect(judged([use('9')], []).status).toBe('pass');
});

test('calls are followed, in a circle as well, until a function has a search_path', () => {
  const called = [body('2', 'SELECT public.f3($1)'), body('3', `SELECT public.f2($1); ${lost}`)];
  const outcome = judged([use('1')], [body('1', '', { calls: ['2'] }), ...called]);
  expect(short(outcome)).toBe('fail continuous+dump');
  expect(outcome.objects).toEqual(['public.f3(text) (relation kinds; t_check on public.t)']);
  expect(judged([use('1')], [body('1', 'SELECT public.f2($1)', { hasPath: true }), ...called]).status).toBe('pass');
});

test('one of several functions of a name, a branch and a handler only warn', () => {
  const several = [body('2', lost), body('3', 'SELECT 1', { name: 'f2' })];
  expect(judged([use('1')], [body('1', 'SELECT public.f2($1)'), ...several]).status).toBe('warn');
  const branch = "BEGIN IF $1 = 'a' THEN PERFORM plain($1); END IF; RETURN 1; END";
  expect(judged([use('1')], [body('1', branch, { language: 'plpgsql' })]).status).toBe('warn');
});

test('a function that fails for one of two tables is reported once, as failing', () => {
  const uses = [use('1', { filled: false, name: 'quiet' }), use('1', { name: 'loud' }), use('1', { filled: false })];
  const outcome = judged(uses, [body('1', lost)]);
  expect(outcome).toMatchObject({ status: 'fail', objects: ['public.f1(text) (relation kinds; loud)'] });
  expect(outcome.fix?.sql).toHaveLength(1);
});

test('a name of several schemas has no automatic fix', () => {
  const outcome = judged(
    [use('1'), use('2')],
    [body('1', lost), body('2', 'SELECT plain($1)')],
    [...[kinds, { ...kinds, schema: 'other' }, plain]],
  );
  expect(outcome.fix?.sql).toEqual(['ALTER FUNCTION "public"."f2"("text") SET search_path = "public", pg_temp']);
  expectText(outcome.fix?.text);
});

test('the search_path serves what the function calls, too', () => {
  const calls = [
    body('1', 'SELECT plain($1)', { schema: 'app' }),
    body('2', lost, { name: 'plain' }),
    body('3', 'SELECT other.f4($1)', { schema: 'app' }),
    body('4', lost, { schema: 'other', hasPath: true }),
  ];
  expect(judged([use('1')], calls).fix?.sql).toEqual([
    'ALTER FUNCTION "public"."f1"("text") SET search_path = "My ""S", "public", "app", pg_temp',
  ]);
  const doubtful = [kinds, { ...kinds, schema: 'other' }, plain];
  expect(judged([use('1')], calls, doubtful).fix?.sql).toBeUndefined();
  expect(judged([use('3')], calls).status).toBe('pass');
});

const like: PathOperator = { schema: 'extensions', name: '%', left: 'text', right: '', isReplaced: false };

test('an operator is lost beside what pg_catalog has none for', () => {
  const argument = { types: ['text', 'int4'], names: ['word', 'n'] };
  const told = (text: string) => judged([use('1')], [body('1', text, argument)], [], [like]);
  for (const text of ["SELECT $1 % 'a'", 'SELECT word % other', "SELECT lower('a')::text % lower('b')"]) {
    expect(short(told(text)), text).toBe('fail continuous+dump');
  }
  for (const text of ['SELECT $2 % 2', 'SELECT n % 2', "SELECT $1 OPERATOR(extensions.%) 'a'", "SELECT 'a' % $1"]) {
    expect(told(text).status, text).toBe('pass');
  }
  expect(told("SELECT $1 % 'a'")).toMatchObject({
    objects: ['public.f1(text) (operator %; t_check on public.t)'],
    fix: { sql: ['ALTER FUNCTION "public"."f1"("text") SET search_path = "extensions", "public", pg_temp'] },
  });
  expectText(told("SELECT $1 % 'a'").detail);
});

test('what triggers call fails where changes are applied, and in no dump', () => {
  for (const kind of ['trigger', 'event'] as const) {
    expect(short(judged([use('1', { kind })], [body('1', lost)]))).toBe('fail continuous');
    expect(short(judged([use('1', { kind }), use('1')], [body('1', lost)]))).toBe('fail continuous+dump');
  }
});

test('the key of partitions is read when one is attached', () => {
  expect(short(judged([use('1', { kind: 'partition', filled: false })], [body('1', lost)]))).toBe(
    'fail continuous+dump',
  );
});

test('an index that takes nothing twice is made of no rows as well, and so the text of its function is read', () => {
  const unfilled = use('1', { kind: 'unique', filled: false });
  expect(short(judged([unfilled], [body('1', lost)]))).toBe('fail continuous+dump');
  expect(short(judged([unfilled], [body('1', lost, { inlined: false })]))).toBe('warn');
});

test('calls are followed through views', () => {
  const view = body('2', '', { name: 'known', isView: true, calls: ['3'] });
  const called = [view, body('3', lost)];
  expect(judged([use('1')], [body('1', 'SELECT FROM public.known'), ...called]).objects).toEqual([
    'public.f3(text) (relation kinds; t_check on public.t)',
  ]);
  expect(judged([use('1')], [body('1', 'SELECT public.known()'), ...called]).status).toBe('pass');
});

test('a definition with a bare operator is rejected, or has other results for stored rows', () => {
  const bare = (more: Partial<UnqualifiedOperatorUse> = {}) => ({
    ...{ object: 'view public.v', operator: 'public.citext = public.citext', isMissing: false, stores: false },
    ...more,
  });
  const outcome = (...all: readonly UnqualifiedOperatorUse[]) => judged([], [], [], [], all);
  expect(short(outcome(bare()))).toBe('warn');
  expect(short(outcome(bare(), bare({ stores: true })))).toBe('unknown');
  expect(short(outcome(bare({ stores: true }), bare({ isMissing: true })))).toBe('fail continuous+dump');
  expect(outcome(bare({ isMissing: true }))).toMatchObject({
    observed: '1 definition',
    objects: ['view public.v (public.citext = public.citext)'],
  });
  for (const one of [bare(), bare({ stores: true }), bare({ isMissing: true })]) expectText(outcome(one).detail);
  // A function without which the copy fails comes first.
  expect(short(judged([use('1')], [body('1', lost)], [kinds], [], [bare({ stores: true })]))).toBe(
    'fail continuous+dump',
  );
});

test('a materialized view that no session can refresh warns, unless rows are concerned too', () => {
  const refresh = use('1', { kind: 'refresh', name: 'materialized view public.mv', filled: false });
  const outcome = judged([refresh], [body('1', lost)]);
  expect(short(outcome)).toBe('warn');
  expectText(outcome.detail);
  expect(outcome.fix?.sql).toHaveLength(1);
  expect(judged([refresh], [body('1', 'SELECT lower($1)')]).status).toBe('pass');
  expect(short(judged([refresh, use('1')], [body('1', lost)]))).toBe('fail continuous+dump');
});
