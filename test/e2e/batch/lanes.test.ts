import { expect, it } from 'vitest';
import { addRandomFaults, ledgerOf, type Row, setUpBatch, sizeAndImage } from './batch-setup.ts';

it('32 requests in flight say no more than one does', async () => {
  const ground = await setUpBatch();
  const lanes = ['--batch-size', '1', '--concurrency', '32'];
  const ran = await ground.run(['droplets', 'create', 'n-{1..80}', ...lanes, ...sizeAndImage, '-o', 'json']);
  expect(ran.code).toBe(0);
  expect(ran.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(80);
  expect(ran.stderr).toBe('');
});

it('a reader that goes away leaves a batch that is told not to be done: exit 5, and --resume does the rest', async () => {
  const ground = await setUpBatch();
  addRandomFaults(ground, [{ action: 'delay', delay: 50 }], { times: 200, among: 200, chance: () => 0 });
  const words = ['droplets create "left-{1..200}" --batch-size 1', ...sizeAndImage, '-o ndjson'].join(' ');
  const script = `{ ${ground.command} ${words} || echo "ended with $?" >&2; } | head -n 1`;
  const ran = await ground.shell('/bin/sh', script, {});
  expect(ran.stdout.match(/"status":"created"/g)).toHaveLength(1);
  expect(ran.stderr).toContain('ended with 5');
  const resumed = await ground.run(['droplets', 'create', '--resume', ledgerOf(ran.stderr), '-o', 'json']);
  expect(resumed.code).toBe(0);
  expect(resumed.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(200);
});
