import { expect, it } from 'vitest';
import { combinePhases, decidePhase, type PhaseInput } from '../../../../src/db/watch/postgresql/database.ts';
import { overallPercent } from '../../../../src/db/watch/sample.ts';

const streaming: PhaseInput = {
  slot: { active: true, lag: 0 },
  hadSlot: true,
  wasActive: true,
  copying: false,
  dumped: false,
  sender: 'streaming',
  stopped: false,
  streamingLag: 100,
};

it.each<[string, Partial<PhaseInput>, string]>([
  ['with a consumer that keeps up', {}, 'streaming'],
  ['a little behind', { slot: { active: true, lag: 100 } }, 'streaming'],
  ['far behind', { slot: { active: true, lag: 101 } }, 'catching_up'],
  ['with a consumer that says so', { sender: 'catchup' }, 'catching_up'],
  ['with nobody there and something left', { slot: { active: false, lag: 1 } }, 'catching_up'],
  ['with nobody there for a moment', { slot: { active: false, lag: 0 } }, 'streaming'],
  ['while tables are copied', { copying: true }, 'copying'],
  ['that nobody has used yet', { wasActive: false }, 'waiting'],
  ['with a broken rule that stops it', { stopped: true }, 'stalled'],
  ['that is gone', { slot: undefined }, 'stalled'],
  ['that never was', { slot: undefined, hadSlot: false }, 'waiting'],
  ['that never was, with pg_dump', { slot: undefined, hadSlot: false, dumped: true }, 'copying'],
])('a slot %s', (_how, signs, phase) => {
  expect(decidePhase({ ...streaming, ...signs })).toBe(phase);
});

it.each<[Parameters<typeof combinePhases>[0], string]>([
  [['streaming', 'stalled', 'copying'], 'stalled'],
  [['streaming', 'copying'], 'copying'],
  [['streaming', 'catching_up'], 'catching_up'],
  [['streaming', 'waiting'], 'copying'],
  [['streaming', 'gone'], 'streaming'],
  [['gone'], 'gone'],
  [[], 'waiting'],
])('databases that are %j are %s together', (phases, phase) => {
  expect(combinePhases(phases)).toBe(phase);
});

it('the copy is 90 of a hundred, catching up the rest, and what stands still keeps its number', () => {
  expect(overallPercent('waiting', 0.5, 0, 10)).toBe(0);
  expect(overallPercent('copying', 0.5, 0, 10)).toBe(45);
  expect(overallPercent('catching_up', 1, 0.25, 10)).toBe(92.5);
  expect(overallPercent('catching_up', 1, 1, 10)).toBe(99.9);
  expect(overallPercent('streaming', 1, 1, 10)).toBe(100);
  expect(overallPercent('stalled', 1, 1, 10)).toBe(10);
  expect(overallPercent('gone', 1, 1, 10)).toBe(10);
});
