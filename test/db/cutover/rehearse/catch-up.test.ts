import { expect, it } from 'vitest';
import { waitForCatchUp } from '../../../../src/db/cutover/rehearse/catch-up.ts';
import type { Wait } from '../../../../src/db/cutover/rehearse/report.ts';
import type { EngineState, TableProgress } from '../../../../src/db/engine/state.ts';
import { instantClock } from '../../../droplets/batch-fixtures.ts';
import { expectGolden } from '../../../fixtures/golden.ts';

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

type Database = EngineState['databases'][number];

/** The waits that are shown while a migration of one database goes through these states. */
async function waitsIn(...databases: readonly Partial<Database>[]): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  let polls = 0;
  const state = () => {
    const one = { name: 'shop', method: 'continuous', tables: [], warnings: [], ...databases[polls++] };
    return { status: 'running', warnings: [], databases: [one] } as unknown as EngineState;
  };
  await waitForCatchUp({ state } as unknown as Parameters<typeof waitForCatchUp>[0], {
    ...{ clock: instantClock(), signal: new AbortController().signal, poll: 1000, stallTimeout: 60_000 },
    onWait: (wait) => waits.push(wait),
    readOpenTransactions: async () => '2 transactions with writes on the source, the oldest since 08:12:06Z: pid 1 app',
  });
  return waits;
}

const orders = (stage: TableProgress['stage']): TableProgress => ({ name: 'public.orders', stage, rows: 1 });

it('each state says what it waits for, with its facts, and what ends it', async () => {
  const waits = await waitsIn(
    { phase: 'copying', tables: [orders('d'), { ...orders('r'), name: 'public.items' }] },
    { phase: 'copying', tables: [orders('s')], lagBytes: 91_000_000 },
    { phase: 'link_down', reason: 'the target lost its connection', tables: [orders('s')] },
    { phase: 'streaming', tables: [orders('r')], lagBytes: 91_000_000 },
  );
  expect(waits.map(({ key }) => key)).toEqual(['copying', 'catching up', 'shop the target lost its connection']);
  expectGolden('db-rehearse', waits.map(({ state, ends }) => `${state}; ${ends}`).join('\n'));
});

it('transactions that delay a slot are read when it has not been created for two seconds', async () => {
  const connecting = { phase: 'connecting' } as const;
  const waits = await waitsIn(connecting, connecting, connecting, { phase: 'streaming' });
  expect(waits.map(({ key }) => key)).toEqual(['connecting']);
  expectGolden('db-rehearse', waits.map(({ state, ends }) => `${state}; ${ends}`).join('\n'));
});
