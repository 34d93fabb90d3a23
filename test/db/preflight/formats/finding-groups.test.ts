import { expect, it } from 'vitest';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import {
  createRepeatedSentenceFilter,
  describeDataLoss,
  groupFindings,
  selectBlockingFindingGroups,
} from '../../../../src/db/preflight/formats/finding-groups.ts';
import { collectStepsOfRequiredFixes, formatFixLinesOfGroup } from '../../../../src/db/preflight/formats/fix-steps.ts';
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
  const groups = groupFindings(inDatabases(5, (at) => ({ observed: at < 3 ? 'some' : 'more' })));
  expect(groups).toHaveLength(1);
  expect(groups[0]?.observations).toMatchObject([
    { observed: 'some', databases: ['d0', 'd1', 'd2'] },
    { observed: 'more', databases: ['d3', 'd4'] },
  ]);
});

it('a text that differs is that of the first database', () => {
  const same = groupFindings(inDatabases(2, () => ({ detail: 'same' })));
  expect(same[0]?.detail).toEqual({ text: 'same', exampleOf: undefined });
  const different = groupFindings(inDatabases(2, (at) => ({ detail: `text ${at}` })));
  expect(different[0]?.detail).toEqual({ text: 'text 0', exampleOf: 'd0' });
});

it('an accepted finding is a group of its own, and blocks nothing', () => {
  const groups = groupFindings(inDatabases(3, (at) => (at === 0 ? { accepted: true } : {})));
  expect(groups.map(({ databases }) => databases.length)).toEqual([1, 2]);
  expect(selectBlockingFindingGroups(report, groups)).toEqual([groups[1]]);
});

it('with --strict warnings are what blocks', () => {
  const strict = { ...report, ok: false, findings: findings.filter(({ status }) => status === 'warn') };
  const ids = selectBlockingFindingGroups(strict, groupFindings(strict.findings)).map(({ first }) => first.id);
  expect(ids).toEqual(['hba-rule', 'unlogged']);
  expect(selectBlockingFindingGroups({ ...strict, ok: true }, groupFindings(strict.findings))).toEqual([]);
});

it('what is lost in many databases is one line', () => {
  expect(describeDataLoss(groupFindings(inDatabases(100, (at) => ({ dataLoss: `${at} rows` }))))).toHaveLength(1);
});

it('a sentence is stated once', () => {
  const isNew = createRepeatedSentenceFilter();
  expect(isNew('First. Second.')).toBe('First. Second.');
  expect(isNew('Second. Third.')).toBe('Third.');
  expect(isNew('First.')).toBeUndefined();
});

it('tables, statements and restarts are counted', () => {
  const many = { ...report, findings: [...findings.filter(({ id }) => id === 'wal-level'), ...inDatabases(3)] };
  const { statements, restart } = collectStepsOfRequiredFixes(many, groupFindings(many.findings));
  expect(statements.map(({ database }) => database)).toEqual(['d0', 'd1', 'd2', undefined]);
  expect(restart).toBe(true);
  const { amount } = collectStepsOfRequiredFixes(many, groupFindings(many.findings));
  expect(amount?.match(/\d+/g)).toEqual(['3', '3', '4', '1']);
});

it('statements are shown once for all databases that need them, and no name ends their line', () => {
  const fix = { text: '', sql: ['ALTER TABLE t REPLICA IDENTITY FULL'] };
  const same = groupFindings(inDatabases(9, (at) => ({ fix: { ...fix, database: `d\n${at}` } })));
  const lines = formatFixLinesOfGroup(same[0]!, 'postgresql');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toBe('ALTER TABLE t REPLICA IDENTITY FULL;');
  const unreadable = groupFindings([{ ...bare, fix: { text: '', sql: ['DROP TABLE a; DROP\nTABLE b'] } }]);
  expect(formatFixLinesOfGroup(unreadable[0]!, 'postgresql')).toEqual(['-- DROP TABLE a; DROP TABLE b']);
});
