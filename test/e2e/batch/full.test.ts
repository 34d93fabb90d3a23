import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { addRandomFaults, type BatchSetup, ledgerOf, type Row, setUpBatch, sizeAndImage } from './batch-setup.ts';

const full = fileURLToPath(new URL('./full.cjs', import.meta.url));
const names = Array.from({ length: 12 }, (_, at) => `n-${at + 1}`);

function fill(setup: BatchSetup, at: string) {
  const env = { NODE_OPTIONS: `--require ${full}`, TEST_FULL_AT: at };
  const words = [
    'droplets',
    'create',
    'n-{1..12}',
    ...sizeAndImage,
    '--batch-size',
    '2',
    '--concurrency',
    '2',
    '-o',
    'json',
  ];
  return setup.run(words, { env });
}

it.each([
  ['baseline', '"event":"baseline"'],
  ['sending', '"event":"sending"'],
  ['created', '"event":"created"'],
  ['failed', '"event":"failed"'],
  ['a later sending', '"group":5,"names"'],
])(
  'a disk that is full when a line is written (%s) stops the batch, and --resume ends it with each name once',
  async (what, at) => {
    const setup = await setUpBatch();
    if (what === 'failed')
      addRandomFaults(setup, [{ action: 'status', status: 422 }], { times: 1, among: 1, chance: () => 0 });
    const ran = await fill(setup, at);
    const there = setup.counts(names);
    expect(ran.stderr).toContain('ENOSPC');
    expect(ran.code).toBe(there.includes(1) ? 5 : 7);
    // What was created is told, though the ledger does not know of it.
    expect(ran.json<Row[]>().map(({ status }) => Number(status === 'created'))).toEqual(there);
    const resumed = await setup.run(['droplets', 'create', '--resume', ledgerOf(ran.stdout), '-o', 'json']);
    expect(resumed.code).toBe(0);
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  },
);
