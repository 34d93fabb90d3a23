import { expect, it } from 'vitest';
import { addRandomFaults, ledgerOf, type Row, setUpBatch, sizeAndImage } from './batch-setup.ts';

it('32 requests in flight say no more than one does', async () => {
  const setup = await setUpBatch();
  const lanes = ['--batch-size', '1', '--concurrency', '32'];
  const ran = await setup.run(['droplets', 'create', 'n-{1..80}', ...lanes, ...sizeAndImage, '-o', 'json']);
  expect(ran.code).toBe(0);
  expect(ran.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(80);
  expect(ran.stderr).toBe('');
});

it('a reader that goes away leaves a batch that is told not to be done: exit 5, and --resume does the rest', async () => {
  const setup = await setUpBatch();
  addRandomFaults(setup, [{ action: 'delay', delay: 50 }], { times: 200, among: 200, chance: () => 0 });
  const words = ['droplets create "left-{1..200}" --batch-size 1', ...sizeAndImage, '-o ndjson'].join(' ');
  const script = `{ ${setup.command} ${words} || echo "ended with $?" >&2; } | head -n 1`;
  const ran = await setup.shell('/bin/sh', script, {});
  expect(ran.stdout.match(/"status":"created"/g)).toHaveLength(1);
  expect(ran.stderr).toContain('ended with 5');
  const resumed = await setup.run(['droplets', 'create', '--resume', ledgerOf(ran.stderr), '-o', 'json']);
  expect(resumed.code).toBe(0);
  expect(resumed.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(200);
});
