import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ledgerOf, ndjsonRows, setUpBatch, sizeAndImage } from './batch-setup.ts';

const names = Array.from({ length: 40 }, (_, at) => `n-${at + 1}`);

it('a marked batch that a copy of its ledger has finished is adopted, not created again', async () => {
  const setup = await setUpBatch();
  setup.sandbox.faults.add({
    match: { method: 'POST', path: '/v2/droplets' },
    nth: 2,
    action: 'status',
    status: 403,
  });
  const begun = await setup.run(['droplets', 'create', 'n-{1..40}', ...sizeAndImage, '--mark', '--concurrency', '1']);
  expect(begun).toMatchObject({ code: 5 });
  const ledger = ledgerOf(begun.stderr);
  const copy = join(setup.work, 'copy.jsonl');
  copyFileSync(ledger, copy);
  expect(await setup.run(['droplets', 'create', '--resume', copy])).toMatchObject({ code: 0 });
  const ran = await setup.run(['droplets', 'create', '--resume', ledger, '-o', 'ndjson']);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stderr).toMatch(/^Adopted \d+ droplets?\b/m);
  expect(ndjsonRows(ran.stdout).map(({ status }) => status)).toEqual(names.map(() => 'created'));
  expect(setup.counts(names)).toEqual(names.map(() => 1));
});
