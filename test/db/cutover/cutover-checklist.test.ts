import { describe, expect, it } from 'vitest';
import {
  type CutoverFacts,
  cutoverChecklist,
  findFirstOpenCutoverLine,
} from '../../../src/db/cutover/cutover-checklist.ts';

const equal = { state: 'equal', databases: [] } as const;
const running = { hasEnded: false, description: 'm' };
const ended = { hasEnded: true, description: 'm' };
const idle = { isIdle: true, observed: 'idle' };
const quiet = { count: 0, open: [], seconds: 6 };
const ready: CutoverFacts = {
  engine: 'postgresql',
  writes: quiet,
  lag: idle,
  sequences: [],
  contents: equal,
  migration: ended,
};

const statesOf = (changes: Partial<CutoverFacts>) =>
  Object.fromEntries(cutoverChecklist({ ...ready, ...changes }).map(({ id, state }) => [id, state]));

describe('the checklist', () => {
  it('is done when every line is', () => {
    expect(findFirstOpenCutoverLine(cutoverChecklist(ready))).toBeUndefined();
    expect(statesOf({})).toEqual({
      target: 'done',
      writes: 'done',
      lag: 'done',
      sequences: 'done',
      contents: 'done',
      stopped: 'done',
    });
  });

  it('of Redis has no sequences', () => {
    expect(Object.keys(statesOf({ engine: 'redis' }))).toEqual(['target', 'writes', 'lag', 'contents', 'stopped']);
  });

  it.each<[Partial<CutoverFacts>, object]>([
    [{ writes: { ...quiet, count: 1 } }, { writes: 'open' }],
    [{ writes: { ...quiet, open: ['pid 7'] } }, { writes: 'open' }],
    [
      { migration: running, lag: { isIdle: false, observed: 'behind' } },
      { lag: 'open', stopped: 'open' },
    ],
    [{ migration: running }, { lag: 'done', stopped: 'open' }],
    [{ sequences: ['shop: s'] }, { sequences: 'open' }],
    [{ sequences: 'no access' }, { sequences: 'unknown' }],
    [{ contents: { state: 'differs', databases: [] } }, { contents: 'open', lag: 'unknown' }],
    [{ contents: { state: 'not_comparable', databases: [] } }, { contents: 'unknown', lag: 'unknown' }],
    [{ contents: 'no access' }, { contents: 'unknown' }],
    [{ migration: 'the service does not answer' }, { stopped: 'unknown', lag: 'done' }],
  ])('%j has %j', (changes, expected) => {
    expect(statesOf(changes)).toMatchObject(expected);
    expect(findFirstOpenCutoverLine(cutoverChecklist({ ...ready, ...changes }))).toBeDefined();
  });

  it('a check that was left out is not done', () => {
    const { sequences: _sequences, contents: _contents, lag: _lag, ...facts } = ready;
    const states = cutoverChecklist({ ...facts, migration: running }).map(({ state }) => state);
    expect(states).toEqual(['done', 'done', 'not_checked', 'not_checked', 'not_checked', 'open']);
  });

  it('names the first objects that differ', () => {
    const sequences = ['a: 1', 'b: 2', 'c: 3', 'd: 4'];
    const line = cutoverChecklist({ ...ready, sequences }).find(({ id }) => id === 'sequences');
    expect(line?.observed).toContain('a: 1, b: 2, c: 3');
    expect(line?.observed).not.toContain('d: 4');
  });
});
