import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testHost } from '../../../fixtures/host.ts';
import { recordedRequests, runCloudctl } from '../../run-cloudctl.ts';
import { machineWithBatch } from './batches.ts';

it('lists the batches of this machine without a request; a damaged ledger is a row', async () => {
  const { host, sandbox, id, ledger, run } = await machineWithBatch(['a', 'b']);
  writeFileSync(join(host.place.state, 'batches', 'broken.jsonl'), 'text\n');
  const before = await recordedRequests(sandbox);
  const ran = await run('list', '-o', 'json');
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.json()).toMatchObject([
    { id, state: 'finished', names: 2, created: 2, failed: 0, unknown: 0, missing: 0, path: ledger },
    { id: 'broken', state: 'damaged' },
  ]);
  expect(await recordedRequests(sandbox)).toEqual(before);
  expect((await run('-o', 'json')).out).toBe(ran.out);
});

it('lists nothing on a new machine', async () => {
  const ran = await runCloudctl(testHost(), ['droplets', 'batches', 'list', '-o', 'json']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.json()).toEqual([]);
});

it('finished ledgers older than batch_ledger_days are deleted when a new batch begins', async () => {
  const { host, id, run, create } = await machineWithBatch(['a', 'b']);
  const ids = async () => (await run('list', '-o', 'json')).json<{ id: string }[]>().map((row) => row.id);
  const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
  const days = (count: string) => runCloudctl(host, ['config', 'set', 'batch_ledger_days', count]);
  host.clock.advance(31 * 86_400_000);
  expect((await days('40')).code).toBe(0);
  await create('c', 'd', ...like);
  expect(await ids()).toContain(id);
  await days('0');
  await create('e', 'f', ...like);
  expect(await ids()).toContain(id);
  await runCloudctl(host, ['config', 'unset', 'batch_ledger_days']);
  await create('g', 'h', ...like);
  expect(await ids()).not.toContain(id);
  expect((await days('-1')).code).toBe(2);
});
