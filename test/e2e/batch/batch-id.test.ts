import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { recordedRequests } from '../../commands/run-cloudctl.ts';
import type { Environment } from '../../fixtures/folders.ts';
import {
  anotherMachine,
  type BatchSetup,
  ledgerOf,
  ndjsonRows,
  type Row,
  setUpBatch,
  sizeAndImage,
} from './batch-setup.ts';

const names = Array.from({ length: 40 }, (_, at) => `n-${at + 1}`);
const like = ['n-{1..40}', ...sizeAndImage, '--region', 'nyc3'];
const create = ['droplets', 'create', ...like, '--batch-id', 'Nightly'];

interface PlannedRow {
  readonly name: string;
  readonly status: string;
  readonly id?: number;
  readonly difference?: string;
}

type Machine = { readonly env: Environment };

async function creations(setup: BatchSetup): Promise<number> {
  return (await recordedRequests(setup.sandbox)).filter((line) => line === 'POST /v2/droplets').length;
}

async function plan(setup: BatchSetup, args: readonly string[], machine?: Machine): Promise<readonly PlannedRow[]> {
  const before = [await creations(setup), existsSync(setup.batches) ? readdirSync(setup.batches) : []];
  const ran = await setup.run([...args, '--plan', '-o', 'json'], machine);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect([await creations(setup), existsSync(setup.batches) ? readdirSync(setup.batches) : []]).toEqual(before);
  return JSON.parse(ran.stdout);
}

/** Deletes the droplet, as another program does. */
async function remove(setup: BatchSetup, name: string): Promise<void> {
  const [id] = setup.ids(name);
  expect(await setup.run(['api', 'DELETE', `/v2/droplets/${id}`])).toMatchObject({ code: 0 });
  expect(setup.counts([name])).toEqual([0]);
}

/**
 * Ends a run with `kill -9` while the response to its third request is awaited. With `slow_drip` the server has created its
 * droplets; a request with `delay` arrives only after the test, which is as good as never.
 */
async function killInTheMiddle(
  setup: BatchSetup,
  args: readonly string[],
  action: 'slow_drip' | 'delay' = 'slow_drip',
): Promise<void> {
  const match = { method: 'POST', path: '/v2/droplets' };
  setup.sandbox.faults.add({ match, nth: 3, action, delay: 600_000 });
  const run = setup.start([...args, '--batch-size', '4', '--concurrency', '1', '-o', 'ndjson']);
  run.child.stdin?.end();
  await run.waitFor('stdout', /"n-8"/);
  // The third request is sent once its line is synced to the disk, while the rows of the second are printed.
  await sleep(300);
  run.kill('SIGKILL');
  await run.ended;
}

const idsOf = (rows: readonly Row[]) => new Map(rows.map(({ name, id }) => [name, id]));

describe('a batch with --batch-id', () => {
  it.each(['slow_drip', 'delay'] as const)(
    'that was killed on one machine is finished by the same command on another (%s)',
    async (action) => {
      const setup = await setUpBatch();
      await killInTheMiddle(setup, create, action);
      const another = { env: await anotherMachine(setup) };
      const planned = await plan(setup, create, another);
      expect(planned.filter(({ status }) => status === 'exists').length).toBeGreaterThanOrEqual(8);
      expect(planned.filter(({ status }) => status === 'create').length).toBeGreaterThan(0);
      const ran = await setup.run([...create, '-o', 'ndjson'], another);
      expect(ran).toMatchObject({ code: 0 });
      expect(ndjsonRows(ran.stdout).map(({ status }) => status)).toEqual(names.map(() => 'created'));
      expect(setup.counts(names)).toEqual(names.map(() => 1));
      // The first machine has a ledger that knows little of this.
      const posts = await creations(setup);
      const again = await setup.run([...create, '-o', 'json']);
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(idsOf(JSON.parse(again.stdout))).toEqual(idsOf(ndjsonRows(ran.stdout)));
      expect(await creations(setup)).toBe(posts);
    },
  );

  it('creates a droplet again that was deleted since, and only that one', async () => {
    const setup = await setUpBatch();
    const first = await setup.run([...create, '-o', 'json']);
    expect(first).toMatchObject({ code: 0 });
    await remove(setup, 'n-7');
    expect((await plan(setup, create)).filter(({ status }) => status !== 'exists')).toEqual([
      { name: 'n-7', status: 'create' },
    ]);
    const again = await setup.run([...create, '-o', 'json']);
    expect(again).toMatchObject({ code: 0 });
    const [before, after] = [idsOf(JSON.parse(first.stdout)), idsOf(JSON.parse(again.stdout))];
    expect([...after].filter(([name, id]) => before.get(name) !== id).map(([name]) => name)).toEqual(['n-7']);
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it.each([
    ['another name', ['droplets', 'create', 'n-{1..39}', 'z', ...sizeAndImage, '--region', 'nyc3']],
    ['fewer names', ['droplets', 'create', 'n-{1..39}', ...sizeAndImage, '--region', 'nyc3']],
    ['more names', ['droplets', 'create', 'n-{1..41}', ...sizeAndImage, '--region', 'nyc3']],
    ['another region', ['droplets', 'create', 'n-{1..40}', ...sizeAndImage, '--region', 'ams3']],
    ['another attribute', ['droplets', 'create', ...like, '--set', 'ipv6=true']],
  ])('refuses %s under the same id before it sends anything', async (_, args) => {
    const setup = await setUpBatch();
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    const posts = await creations(setup);
    const other = [...args, '--batch-id', 'nightly'];
    const ran = await setup.run([...other, '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(ran.stderr).error).toMatchObject({
      code: 'usage',
      detail: expect.stringMatching(/n-\d+ \(\d+\): /),
    });
    expect((await plan(setup, other)).some(({ status }) => status === 'differs')).toBe(true);
    expect(await creations(setup)).toBe(posts);
    // The ledger of the batch is as it was.
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    expect(readdirSync(setup.batches).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
  });

  it('that was killed is resumed by its ledger, too', async () => {
    const setup = await setUpBatch();
    await killInTheMiddle(setup, create);
    const [ledger = ''] = readdirSync(setup.batches).filter((name) => name.endsWith('.jsonl'));
    const ran = await setup.run(['droplets', 'create', '--resume', join(setup.batches, ledger)]);
    expect(ran).toMatchObject({ code: 0 });
    expect(setup.counts(names)).toEqual(names.map(() => 1));
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it('takes the names in any order, and the id in any case', async () => {
    const setup = await setUpBatch();
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    const other = ['droplets', 'create', 'n-{40..1}', ...sizeAndImage, '--region', 'nyc3', '--batch-id', 'NIGHTLY'];
    expect(await setup.run(other)).toMatchObject({ code: 0 });
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it('does not touch droplets of these names that are not of the batch', async () => {
    const setup = await setUpBatch();
    expect(await setup.run(['droplets', 'create', 'n-3', ...sizeAndImage])).toMatchObject({ code: 0 });
    const posts = await creations(setup);
    expect(await setup.run(create)).toMatchObject({ code: 2 });
    expect(await creations(setup)).toBe(posts);
    const ran = await setup.run([...create, '--if-exists', 'skip', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0 });
    const rows: readonly Row[] = JSON.parse(ran.stdout);
    expect(rows.filter(({ status }) => status === 'skipped').map(({ name }) => name)).toEqual(['n-3']);
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it('names two droplets of one name, and creates no third', async () => {
    const setup = await setUpBatch();
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    const tags = JSON.parse((await setup.run(['api', 'GET', `/v2/droplets/${setup.ids('n-5')[0]}`])).stdout).droplet
      .tags;
    const body = { name: 'n-5', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3', tags };
    expect(await setup.run(['api', 'POST', '/v2/droplets', '--data', JSON.stringify(body)])).toMatchObject({ code: 0 });
    const ran = await setup.run([...create, '-o', 'json']);
    expect(ran).toMatchObject({ code: 5 });
    const rows: readonly Row[] = JSON.parse(ran.stdout);
    const [row] = rows.filter(({ status }) => status !== 'created');
    expect(row).toMatchObject({ name: 'n-5', status: 'unknown' });
    for (const id of setup.ids('n-5')) expect(row?.error).toContain(String(id));
    expect(setup.counts(names)).toEqual(names.map((name) => (name === 'n-5' ? 2 : 1)));
    // The one that is left belongs to the batch.
    await setup.run(['api', 'DELETE', `/v2/droplets/${setup.ids('n-5')[0]}`]);
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });
});

describe('--ledger FILE', () => {
  it('creates the file, continues its batch, and prints the same rows when it is complete', async () => {
    const setup = await setUpBatch();
    const file = join(setup.work, 'batch.jsonl');
    const args = ['droplets', 'create', ...like, '--ledger', file];
    await killInTheMiddle(setup, args);
    const ran = await setup.run([...args, '-o', 'ndjson']);
    expect(ran).toMatchObject({ code: 0 });
    expect(ledgerOf(ran.stderr)).toBe(file);
    expect(setup.counts(names)).toEqual(names.map(() => 1));
    const again = await setup.run([...args, '-o', 'json']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(idsOf(JSON.parse(again.stdout))).toEqual(idsOf(ndjsonRows(ran.stdout)));
    expect(await setup.run(['droplets', 'create', 'other', ...sizeAndImage, '--ledger', file])).toMatchObject({
      code: 2,
    });
    rmSync(file);
  });
});

describe('--plan', () => {
  it('prints what exists, differs and would be created, and creates nothing', async () => {
    const setup = await setUpBatch();
    await setup.run(['droplets', 'create', 'n-1', ...sizeAndImage, '--region', 'nyc3']);
    await setup.run(['droplets', 'create', 'n-2', ...sizeAndImage, '--region', 'ams3']);
    const rows = await plan(setup, ['droplets', 'create', 'n-{1..3}', ...sizeAndImage, '--region', 'nyc3']);
    expect(rows).toEqual([
      { name: 'n-1', status: 'exists', id: setup.ids('n-1')[0] },
      { name: 'n-2', status: 'differs', id: setup.ids('n-2')[0], difference: expect.stringContaining('ams3') },
      { name: 'n-3', status: 'create' },
    ]);
  });

  it('of a ledger shows which of its droplets were deleted since', async () => {
    const setup = await setUpBatch();
    const file = join(setup.work, 'batch.jsonl');
    const args = ['droplets', 'create', 'n-{1..3}', ...sizeAndImage, '--ledger', file];
    expect(await setup.run(args)).toMatchObject({ code: 0 });
    await remove(setup, 'n-2');
    const rows = await plan(setup, ['droplets', 'create', '--resume', file]);
    expect(rows.map(({ status }) => status)).toEqual(['exists', 'differs', 'exists']);
    expect(await plan(setup, args)).toEqual(rows);
  });
});
