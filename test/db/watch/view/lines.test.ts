import { expect, it } from 'vitest';
import type { StatusSample, StopCause } from '../../../../src/db/watch/sample.ts';
import { type LoggedState, nextLogLines } from '../../../../src/db/watch/view/lines.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { exampleViolation, makeStatusSample } from './status-samples.ts';

function logOf(...looks: readonly StatusSample[]): readonly (readonly string[])[] {
  let before: LoggedState | undefined;
  return looks.map((look) => {
    const { lines, said: next } = nextLogLines(before, look);
    before = next;
    return lines;
  });
}

const at = (seconds: number, more: Partial<StatusSample> = {}) =>
  makeStatusSample({ at: new Date(Date.parse('2026-11-20T12:00:00Z') + seconds * 1000).toISOString(), ...more });

it('a line is written for the first sample, a new phase, ten percent more, and after a minute', () => {
  const log = logOf(
    at(0),
    at(2, { percent: 49.9 }),
    at(4, { percent: 50 }),
    at(6, { percent: 51, phase: 'catching_up' }),
    at(60, { percent: 52, phase: 'catching_up' }),
    at(66, { percent: 52, phase: 'catching_up' }),
  );
  expect(log.map((lines) => lines.length)).toEqual([2, 0, 1, 1, 0, 1]);
  expectGolden('db-watch', log.flat().join('\n'));
});

it('lines are still written after the clock was set back', () => {
  expect(logOf(at(7200), at(0), at(2)).map((lines) => lines.length)).toEqual([2, 1, 0]);
});

it('a violation has one line when it starts and one when it ends', () => {
  const log = logOf(at(0), at(2, { violations: [exampleViolation] }), at(4, { violations: [exampleViolation] }), at(6));
  expect(log.map((lines) => lines.length)).toEqual([2, 2, 0, 2]);
  expectGolden('db-watch', log.flat().join('\n'));
});

it('a violation that becomes the cause of a stop, or gets another cause, is not resolved', () => {
  const { database: _, ...ofServer } = exampleViolation;
  const cause = (rule: string, basis: StopCause['basis']): StopCause => ({
    ...{ ...exampleViolation, rule, basis, object: 's' },
    fix: { run_on: 'source', statement: 'SELECT 1;' },
  });
  const log = logOf(
    at(0, { violations: [ofServer] }),
    at(2, { violations: [cause(exampleViolation.rule, 'changed')] }),
    at(4, { violations: [cause('target-lock', 'observed')] }),
    at(6),
  );
  expect(log.map((lines) => lines.filter((line) => line.includes('resolved')).length)).toEqual([0, 0, 0, 1]);
});

it('a violation that is replaced by a more exact one of the same object is not resolved, and the exact one is', () => {
  const about = (rule: string, object: string) => ({ ...exampleViolation, rule, object });
  const log = logOf(
    at(0, { violations: [about('schema-changed', 'public.orders'), about('role-altered', 'mover')] }),
    at(2, { violations: [about('column-added', 'public.orders.note'), about('column-added', 'public.orders2.note')] }),
    at(4, { violations: [about('column-added', 'public.orders2.note')] }),
    at(6),
  );
  const resolved = log.map((lines) => lines.flatMap((line) => /resolved: (\S+)/.exec(line)?.[1] ?? []));
  expect(resolved).toEqual([[], ['role-altered'], [], ['column-added']]);
});

it('a migration that does not catch up is reported as such', () => {
  const { eta_seconds: _eta, ...endless } = at(0, { phase: 'catching_up' });
  expectGolden('db-watch', logOf(endless).flat().join('\n'));
});
