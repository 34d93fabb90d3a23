import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type BatchSetup, ledgerOf, ndjsonRows, setUpBatch, sizeAndImage } from './batch-setup.ts';

const names = Array.from({ length: 40 }, (_, at) => `n-${at + 1}`);

/** Starts a batch that the server stops, and finishes it with a copy of its ledger, as after a restored backup. */
async function finishWithCopy(setup: BatchSetup, options: readonly string[]): Promise<string> {
  const match = { method: 'POST', path: '/v2/droplets' };
  setup.sandbox.faults.add({ match, nth: 2, action: 'status', status: 403 });
  const words = ['n-{1..40}', ...sizeAndImage, ...options, '--concurrency', '1'];
  const begun = await setup.run(['droplets', 'create', ...words]);
  expect(begun).toMatchObject({ code: 5 });
  const ledger = ledgerOf(begun.stderr);
  const copy = join(setup.work, 'copy.jsonl');
  copyFileSync(ledger, copy);
  expect(await setup.run(['droplets', 'create', '--resume', copy])).toMatchObject({ code: 0 });
  return ledger;
}

it('a batch with a tag that a copy of its ledger has finished is adopted, not created again', async () => {
  const setup = await setUpBatch();
  const ledger = await finishWithCopy(setup, ['--batch-id', 'nightly', '--ledger', 'nightly.jsonl']);
  const ran = await setup.run(['droplets', 'create', '--resume', ledger, '-o', 'ndjson']);
  expect(ran).toMatchObject({ code: 0 });
  expect(ndjsonRows(ran.stdout).map(({ status }) => status)).toEqual(names.map(() => 'created'));
  expect(setup.counts(names)).toEqual(names.map(() => 1));
});

it('without a tag the rows name the droplets of the copy, and none is created again', async () => {
  const setup = await setUpBatch();
  const ledger = await finishWithCopy(setup, []);
  const ran = await setup.run(['droplets', 'create', '--resume', ledger, '-o', 'ndjson']);
  expect(ran).toMatchObject({ code: 5 });
  const rows = ndjsonRows(ran.stdout);
  expect(rows.map(({ name, id }) => [name, id]).toSorted()).toEqual(
    names.map((name) => [name, setup.ids(name)[0]]).toSorted(),
  );
  expect(rows.filter(({ status }) => status === 'failed')).toHaveLength(30);
  expect(await setup.run(['droplets', 'create', '--resume', ledger])).toMatchObject({ code: 5 });
  expect(setup.counts(names)).toEqual(names.map(() => 1));
});
