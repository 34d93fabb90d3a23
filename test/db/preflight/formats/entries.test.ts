import { expect, it } from 'vitest';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import { blockersOf, freshSentences, partsOf } from '../../../../src/db/preflight/formats/entries.ts';
import { fixLinesOf, modelOf } from '../../../../src/db/preflight/formats/model.ts';
import { findings, report } from '../sample.ts';

const bare = findings.find(({ id }) => id === 'replica-identity')!;

/** The same finding in so many databases, each with a table of its own. */
function inDatabases(
  count: number,
  changes: (at: number) => Partial<CheckFinding> = () => ({}),
): readonly CheckFinding[] {
  return Array.from({ length: count }, (_, at) => {
    const fix = { ...bare.fix!, database: `d${at}`, sql: [`ALTER TABLE public."t ${at}" REPLICA IDENTITY FULL`] };
    return { ...bare, database: `d${at}`, fix, ...changes(at) };
  });
}

it('a finding of several databases is one group, with each result once', () => {
  const groups = partsOf(inDatabases(5, (at) => ({ observed: at < 3 ? 'some' : 'more' })));
  expect(groups).toHaveLength(1);
  expect(groups[0]?.observations).toMatchObject([
    { observed: 'some', databases: ['d0', 'd1', 'd2'] },
    { observed: 'more', databases: ['d3', 'd4'] },
  ]);
});

it('a text that differs is that of the first database', () => {
  const same = partsOf(inDatabases(2, () => ({ detail: 'same' })));
  expect(same[0]?.detail).toEqual({ text: 'same', exampleOf: undefined });
  const different = partsOf(inDatabases(2, (at) => ({ detail: `text ${at}` })));
  expect(different[0]?.detail).toEqual({ text: 'text 0', exampleOf: 'd0' });
});

it('an accepted finding is a group of its own, and blocks nothing', () => {
  const groups = partsOf(inDatabases(3, (at) => (at === 0 ? { accepted: true } : {})));
  expect(groups.map(({ databases }) => databases.length)).toEqual([1, 2]);
  expect(blockersOf(report, groups)).toEqual([groups[1]]);
});

it('with --strict warnings are what blocks', () => {
  const strict = { ...report, ok: false, findings: findings.filter(({ status }) => status === 'warn') };
  const ids = blockersOf(strict, partsOf(strict.findings)).map(({ first }) => first.id);
  expect(ids).toEqual(['hba-rule', 'unlogged']);
  expect(blockersOf({ ...strict, ok: true }, partsOf(strict.findings))).toEqual([]);
});

it('what is lost in many databases is one line', () => {
  expect(modelOf({ ...report, findings: inDatabases(100, (at) => ({ dataLoss: `${at} rows` })) }).losses).toHaveLength(
    1,
  );
});

it('a sentence is stated once', () => {
  const isNew = freshSentences();
  expect(isNew('First. Second.')).toBe('First. Second.');
  expect(isNew('Second. Third.')).toBe('Third.');
  expect(isNew('First.')).toBeUndefined();
});

it('tables, statements and restarts are counted', () => {
  const many = { ...report, findings: [...findings.filter(({ id }) => id === 'wal-level'), ...inDatabases(3)] };
  const { statements, restart, amount } = modelOf(many).steps;
  expect(statements.map(({ database }) => database)).toEqual(['d0', 'd1', 'd2', undefined]);
  expect(restart).toBe(true);
  expect(amount?.match(/\d+/g)).toEqual(['3', '3', '4', '1']);
});

it('statements are shown once for all databases that need them, and no name ends their line', () => {
  const fix = { text: '', sql: ['ALTER TABLE t REPLICA IDENTITY FULL'] };
  const same = partsOf(inDatabases(9, (at) => ({ fix: { ...fix, database: `d\n${at}` } })));
  const lines = fixLinesOf(same[0]!, report);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toBe('ALTER TABLE t REPLICA IDENTITY FULL;');
  const unreadable = partsOf([{ ...bare, fix: { text: '', sql: ['DROP TABLE a; DROP\nTABLE b'] } }]);
  expect(fixLinesOf(unreadable[0]!, report)).toEqual(['-- DROP TABLE a; DROP TABLE b']);
});
