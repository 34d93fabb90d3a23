import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ledgerOf, ndjsonRows, setUpBatch, sizeAndImage } from './batch-setup.ts';

const secret = 'hunter2-correct-horse';
const content = `#cloud-config\npassword: ${secret}\n`;

it('user data is in no process list, message, row or ledger, and a resumed batch asks for it again', async () => {
  const setup = await setUpBatch();
  const file = join(setup.work, 'user-data.yaml');
  writeFileSync(file, content);
  const match = { method: 'POST', path: '/v2/droplets' };
  setup.sandbox.faults.add({ match, nth: 2, action: 'status', status: 403 });
  const words = ['n-{1..20}', ...sizeAndImage, '--user-data-file', file, '--concurrency', '1'];
  const running = setup.start(['droplets', 'create', ...words, '-o', 'ndjson']);
  running.child.stdin?.end();
  await running.waitFor('stderr', /^ledger: /m);
  // The arguments of a process are in its cmdline until it ends.
  const cmdline = `/proc/${running.child.pid}/cmdline`;
  if (existsSync(cmdline)) expect(readFileSync(cmdline, 'utf8')).not.toContain(secret);
  const begun = await running.ended;
  expect(begun.code).toBe(5);
  const ledger = ledgerOf(begun.stderr);
  const text = readFileSync(ledger, 'utf8');
  for (const one of [begun.stdout, begun.stderr, text]) expect(one).not.toContain(secret);
  expect(text).toContain(createHash('sha256').update(content).digest('hex'));
  const resume = (...more: string[]) => setup.run(['droplets', 'create', '--resume', ledger, ...more]);
  expect(await resume()).toMatchObject({ code: 2 });
  writeFileSync(file, `${content}more`);
  expect(await resume('--user-data-file', file)).toMatchObject({ code: 2 });
  expect(await resume('--user-data-file', '-')).toMatchObject({ code: 2 });
  const piped = await setup.run(['droplets', 'create', '--resume', ledger, '--user-data-file', '-'], {
    stdin: content,
  });
  expect(piped).toMatchObject({ code: 0 });
  const names = Array.from({ length: 20 }, (_, at) => `n-${at + 1}`);
  expect(setup.counts(names)).toEqual(names.map(() => 1));
});

it('the batch of a killed run is listed, and deleted exactly', async () => {
  const setup = await setUpBatch();
  const kept = await setup.run(['droplets', 'create', 'keep', ...sizeAndImage]);
  expect(kept).toMatchObject({ code: 0 });
  // Its ledger is deleted; only the entry for later runs is kept.
  expect(readdirSync(setup.batches)).toEqual(['running']);
  const match = { method: 'POST', path: '/v2/droplets' };
  setup.sandbox.faults.add({ match, nth: 3, action: 'delay', delay: 60_000 });
  const running = setup.start([
    'droplets',
    'create',
    'n-{1..40}',
    ...sizeAndImage,
    '--concurrency',
    '1',
    '-o',
    'ndjson',
  ]);
  running.child.stdin?.end();
  await running.waitFor('stdout', /"n-20"/);
  const during = await setup.run(['droplets', 'batches', 'list', '-o', 'ndjson']);
  expect(JSON.parse(during.stdout)).toMatchObject({ state: 'running', names: 40 });
  running.kill('SIGKILL');
  await running.ended;
  const listed = JSON.parse((await setup.run(['droplets', 'batches', 'list', '-o', 'ndjson'])).stdout);
  expect(listed).toMatchObject({ state: 'unfinished', names: 40, created: 20, unknown: 10 });
  const shown = await setup.run(['droplets', 'batches', 'show', listed.id, '-o', 'ndjson']);
  expect(ndjsonRows(shown.stdout).filter(({ status }) => status === 'created')).toHaveLength(20);
  const deleted = await setup.run(['droplets', 'batches', 'delete', listed.id, '--yes', '-o', 'ndjson']);
  expect(deleted).toMatchObject({ code: 0 });
  expect(ndjsonRows(deleted.stdout).map(({ status }) => status)).toEqual(Array(20).fill('deleted'));
  const created = Array.from({ length: 20 }, (_, at) => `n-${at + 1}`);
  expect(setup.counts(['keep', ...created])).toEqual([1, ...created.map(() => 0)]);
});
