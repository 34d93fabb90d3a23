import { expect, it } from 'vitest';
import type { StatusSample } from '../../../src/watch/status-sample.ts';
import { type LoggedState, nextLogLines } from '../../../src/watch/view/log-lines.ts';
import { exampleViolation, makeStatusSample } from './status-samples.ts';

function said(...looks: readonly StatusSample[]): readonly (readonly string[])[] {
  let before: LoggedState | undefined;
  return looks.map((look) => {
    const { lines, said: next } = nextLogLines(before, look);
    before = next;
    return lines;
  });
}

const at = (seconds: number, more: Partial<StatusSample> = {}) =>
  makeStatusSample({ at: new Date(Date.parse('2026-11-20T12:00:00Z') + seconds * 1000).toISOString(), ...more });

it('the first look is told, then only what is news: another phase, ten percent more, a minute of silence', () => {
  const told = said(
    at(0),
    at(2, { percent: 49.9 }),
    at(4, { percent: 50 }),
    at(6, { percent: 51, phase: 'catching_up' }),
    at(60, { percent: 52, phase: 'catching_up' }),
    at(66, { percent: 52, phase: 'catching_up' }),
  );
  expect(told.map((lines) => lines.length)).toEqual([1, 0, 1, 1, 0, 1]);
  expect(told[0]).toEqual(['2026-11-20T12:00:00Z copying 45.0 %, 500 MB of 1.0 GB, 2.0 kB behind, 1 min left']);
});

it('a clock that was set back silences nobody', () => {
  expect(said(at(7200), at(0), at(2)).map((lines) => lines.length)).toEqual([1, 1, 0]);
});

it('a violation is told once when it comes and once when it is over', () => {
  const told = said(at(0), at(2, { violations: [exampleViolation] }), at(4, { violations: [exampleViolation] }), at(6));
  expect(told.map((lines) => lines.length)).toEqual([1, 2, 0, 2]);
  expect(told[1]?.[1]).toMatch(/^2026-11-20T12:00:02Z violation wal-level-changed in shop: .*; DO NOT RESTART/);
  expect(told[3]?.[1]).toBe('2026-11-20T12:00:06Z over: wal-level-changed in shop');
});

it('what gets no nearer says so', () => {
  const { eta_seconds: _eta, ...endless } = at(0, { phase: 'catching_up' });
  expect(said(endless)[0]?.[0]).toMatch(/not getting nearer$/);
});
