import { expect, it } from 'vitest';
import { waitForCatchUp } from '../../../../src/db/cutover/rehearse/catch-up.ts';
import type { EngineState } from '../../../../src/db/engine/state.ts';
import { instantClock } from '../../../droplets/batch-fixtures.ts';

type Change = Pick<EngineState, 'status'> & {
  readonly phase: EngineState['databases'][number]['phase'];
};

/** Waits for a migration of one database that goes through these states; the last one stays. */
function waitFor(changes: readonly Change[]) {
  let polls = 0;
  const state = (): EngineState => {
    const { status, phase } = changes[Math.min(polls++, changes.length - 1)] ?? { status: 'running', phase: 'waiting' };
    return {
      status,
      warnings: [],
      databases: [
        { name: 'shop', phase, method: 'continuous', tables: [], lagBytes: 0, error: undefined, warnings: [] },
      ],
    } as unknown as EngineState;
  };
  const migration = { state } as unknown as Parameters<typeof waitForCatchUp>[0];
  const signal = new AbortController().signal;
  return waitForCatchUp(migration, { clock: instantClock(), signal, poll: 1000, stallTimeout: 5000 });
}

it('a migration whose databases stream has caught up', async () => {
  const { kind, seconds } = await waitFor([
    { status: 'running', phase: 'copying' },
    { status: 'syncing', phase: 'streaming' },
  ]);
  expect([kind, seconds.get('shop')]).toEqual(['arrived', 1]);
});

it('a dump that is still finished cannot be compared yet', async () => {
  const { kind } = await waitFor([
    { status: 'syncing', phase: 'finishing' },
    { status: 'done', phase: 'done' },
  ] as readonly Change[]);
  expect(kind).toBe('over');
});

it('a migration without progress is stuck after the stall timeout', async () => {
  const { kind, seconds } = await waitFor([{ status: 'running', phase: 'copying' }]);
  expect([kind, seconds.get('shop')]).toEqual(['stuck', 5]);
});
