import { expect, test } from 'vitest';
import {
  type ChangedFindings,
  type CheckFinding,
  type DatabaseEffect,
  type FindingFix,
  findingKey,
} from '../../../src/db/preflight/finding.ts';
import { simulateFixes } from '../../../src/db/preflight/run.ts';

function simulate(
  findings: readonly CheckFinding[],
  evaluate: (effects: readonly DatabaseEffect[]) => ChangedFindings,
) {
  return simulateFixes(findings, 'continuous', evaluate);
}

function finding(id: string, more: Partial<CheckFinding> = {}): CheckFinding {
  return {
    id,
    title: id,
    headline: `not ${id}`,
    scope: 'server',
    status: 'fail',
    blocks: more.status === undefined ? ['continuous'] : [],
    observed: '1',
    ...more,
  };
}

function sets(name: string, value = '2', more: Partial<FindingFix> = {}): { readonly fix: FindingFix } {
  const sql = [`ALTER SYSTEM SET ${name} = '${value}'`];
  return { fix: { sql, text: 'Set it.', effects: [{ kind: 'setting', name, value }], ...more } };
}

/** Evaluates by the settings that are set: each rule says what a finding then is. */
function evaluateBy(rules: (set: ReadonlyMap<string, string>) => readonly CheckFinding[]) {
  return (placed: readonly DatabaseEffect[]) => {
    const settings = placed.flatMap(({ effect }): [string, string][] =>
      effect.kind === 'setting' ? [[effect.name, effect.value]] : [],
    );
    return { changed: new Map(rules(new Map(settings)).map((one) => [findingKey(one), one])) };
  };
}

const passed = (id: string) => finding(id, { status: 'pass' });
const fixOf = (findings: readonly CheckFinding[], id: string) => findings.find((one) => one.id === id)?.fix;
const statusOf = (findings: readonly CheckFinding[] | undefined, id: string) =>
  findings?.find((one) => one.id === id)?.status;

test('a fix that makes another finding worse loses its statements and names the finding', () => {
  const { findings, after } = simulate(
    [finding('backlog', { status: 'warn', ...sets('backlog', '2', { restart: true, undo: ['x'] }) }), passed('memory')],
    evaluateBy((set) => (set.has('backlog') ? [passed('backlog'), finding('memory', { status: 'warn' })] : [])),
  );
  expect(fixOf(findings, 'backlog')).toEqual({ text: expect.stringContaining('memory'), worsens: ['memory'] });
  expect(after).toBeUndefined();
});

test.each([
  { from: 'pass', to: 'unknown', written: false },
  { from: 'pass', to: 'info', written: true },
  { from: 'unknown', to: 'warn', written: false },
  { from: 'warn', to: 'fail', written: false },
  { from: 'warn', to: 'unknown', written: true },
  { from: 'fail', to: 'pass', written: true },
  { from: 'skip', to: 'fail', written: true },
] as const)('a finding that goes from $from to $to: the fix is written: $written', ({ from, to, written }) => {
  const { findings } = simulate(
    [finding('a', sets('a')), finding('b', { status: from })],
    evaluateBy((set) => (set.has('a') ? [passed('a'), finding('b', { status: to })] : [])),
  );
  expect('sql' in (fixOf(findings, 'a') ?? {})).toBe(written);
});

test.each([
  { what: 'another blocked method', more: { blocks: ['continuous', 'dump'] } },
  { what: 'data that is not migrated', more: { dataLoss: 'rows' } },
] as const)('$what counts as worse', ({ more }) => {
  const { findings } = simulate(
    [finding('a', sets('a')), finding('b', { blocks: ['continuous'] })],
    evaluateBy((set) => (set.has('a') ? [finding('b', { blocks: ['continuous'], ...more })] : [])),
  );
  expect(fixOf(findings, 'a')).toMatchObject({ worsens: ['b'] });
});

test('of two values for one name the one that corrects both findings is kept', () => {
  const given = [finding('a', sets('disk', 'no')), finding('b', sets('disk', 'yes'))];
  const { findings, after } = simulate(
    given,
    evaluateBy((set) => {
      if (set.get('disk') === 'yes') return [passed('a'), passed('b')];
      return set.get('disk') === 'no' ? [passed('a')] : [];
    }),
  );
  expect(fixOf(findings, 'a')).not.toHaveProperty('sql');
  expect(fixOf(findings, 'b')).toMatchObject({ simulated: true, sql: ["ALTER SYSTEM SET disk = 'yes'"] });
  expect([statusOf(after, 'a'), statusOf(after, 'b')]).toEqual(['pass', 'pass']);
});

test('of two values that each correct one finding only, the first is kept', () => {
  const { findings } = simulate(
    [finding('a', sets('disk', 'no')), finding('b', sets('disk', 'yes'))],
    evaluateBy((set) => (set.get('disk') === 'no' ? [passed('a')] : [passed('b')])),
  );
  expect(fixOf(findings, 'a')).toHaveProperty('sql');
  expect(fixOf(findings, 'b')).not.toHaveProperty('sql');
});

test('numbers for one name do not conflict, because the script sets the larger', () => {
  const { findings } = simulate(
    [finding('a', sets('slots', '3')), finding('b', sets('slots', '12'))],
    evaluateBy(() => [passed('a'), passed('b')]),
  );
  expect(findings.map(({ fix }) => fix?.simulated)).toEqual([true, true]);
});

test('a fix that is harmful only together with others is not written; those of blockers come first', () => {
  const { findings } = simulate(
    [finding('a', { status: 'warn', ...sets('a') }), finding('b', sets('b')), passed('c')],
    evaluateBy((set) => [
      ...(set.has('a') ? [passed('a')] : []),
      ...(set.has('b') ? [passed('b')] : []),
      ...(set.has('a') && set.has('b') ? [finding('c')] : []),
    ]),
  );
  expect(fixOf(findings, 'b')).toHaveProperty('sql');
  expect(fixOf(findings, 'a')).toMatchObject({ worsens: ['c'] });
});

test('a fix with which another one is no longer enough is not written', () => {
  const { findings } = simulate(
    [
      finding('backlog', { status: 'warn', ...sets('backlog') }),
      finding('memory', { status: 'warn', ...sets('memory') }),
    ],
    evaluateBy((set) => [
      ...(set.has('backlog') ? [passed('backlog')] : []),
      finding('memory', { status: set.has('memory') && !set.has('backlog') ? 'pass' : 'warn' }),
    ]),
  );
  expect(fixOf(findings, 'backlog')).toMatchObject({ worsens: ['memory'] });
  expect(fixOf(findings, 'memory')).toHaveProperty('sql');
});

test('a fix with which the server does not start is not written, unless another one prevents that', () => {
  const evaluate = (placed: readonly DatabaseEffect[]) => {
    const names = placed.flatMap(({ effect }) => (effect.kind === 'setting' ? [effect.name] : []));
    const restarts = placed.some(({ effect }) => effect.kind === 'restart');
    const cannotStart = restarts && names.includes('senders') && !names.includes('level') ? 'no WAL' : undefined;
    return { changed: new Map<string, CheckFinding>(), cannotStart };
  };
  const senders = finding('senders', sets('senders', '2', { restart: true }));
  expect(fixOf(simulate([senders], evaluate).findings, 'senders')?.text).toContain('no WAL');
  const both = [finding('level', sets('level', 'logical', { restart: true })), senders];
  expect(simulate(both, evaluate).findings.map(({ fix }) => fix?.simulated)).toEqual([true, true]);
});

test('statements without effects stay, and leave their finding as it is', () => {
  const shell = { fix: { shell: ['cp a b'], text: 'Copy it.', notSimulated: 'it changes a file' } };
  const { findings, after, notSimulated } = simulate(
    [finding('a', shell), finding('b', { fix: { text: 'Wait.' } })],
    evaluateBy(() => []),
  );
  expect(fixOf(findings, 'a')).toEqual({ ...shell.fix, simulated: false });
  expect(fixOf(findings, 'b')).toEqual({ text: 'Wait.' });
  expect([statusOf(after, 'a'), notSimulated]).toEqual(['fail', ['a']]);
});

test('the fix of an accepted finding is not in the script, so it is not simulated', () => {
  const { findings, after } = simulate(
    [finding('a', { accepted: true, ...sets('a') }), passed('b')],
    evaluateBy((set) => (set.has('a') ? [finding('b')] : [])),
  );
  expect(fixOf(findings, 'a')).toEqual({ sql: ["ALTER SYSTEM SET a = '2'"], text: 'Set it.' });
  expect(after).toBeUndefined();
});

test('the same statements for several databases are evaluated once, and withheld from all', () => {
  let evaluations = 0;
  const grant = {
    fix: { sql: ['ALTER ROLE r BYPASSRLS'], text: 'x', effects: [{ kind: 'role', bypassRls: true }] },
  } as const;
  const databases = ['d1', 'd2', 'd3'].map((database) => finding('rls', { scope: 'database', database, ...grant }));
  const { findings } = simulate([...databases, passed('b')], (placed) => {
    evaluations += 1;
    return { changed: new Map(placed.length === 0 ? [] : [['b', finding('b')]]) };
  });
  expect(findings.filter(({ fix }) => fix?.worsens !== undefined)).toHaveLength(3);
  expect(evaluations).toBeLessThanOrEqual(4);
});
