import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readBatchLedger, readBatchStateIfLedgerValid } from '../../../src/batch/ledger/read-batch-ledger.ts';
import { batchOf, ledgerFor } from '../batch-fixtures.ts';

const at = '2026-01-01T00:00:00.000Z';

it('reads the complete lines and leaves the file as it is', async () => {
  const { path, close } = await ledgerFor(batchOf(['a']));
  await close();
  const complete = readFileSync(path, 'utf8').length;
  writeFileSync(path, '{"event"', { flag: 'a' });
  expect(readBatchLedger(path)).toMatchObject({
    length: complete,
    size: complete + 8,
    state: { batch: { names: ['a'] } },
  });
  expect(readFileSync(path, 'utf8')).toHaveLength(complete + 8);
});

it('a damaged or missing ledger is undefined, or an error with its line', async () => {
  const { path, close } = await ledgerFor(batchOf(['a']));
  await close();
  expect(readBatchStateIfLedgerValid(`${path}.none`)).toBeUndefined();
  writeFileSync(path, 'text\n', { flag: 'a' });
  expect(readBatchStateIfLedgerValid(path)).toBeUndefined();
  expect(() => readBatchLedger(path)).toThrow(expect.objectContaining({ code: 'config_invalid', detail: `${path}:2` }));
});

it('a deleted droplet is missing again, but its id stays known', async () => {
  const ledger = await ledgerFor(batchOf(['a', 'b']));
  ledger.record({ event: 'baseline', at, existing: {} });
  ledger.record({
    event: 'created',
    at,
    group: 1,
    rows: [
      { name: 'a', id: 7 },
      { name: 'b', id: 8 },
    ],
  });
  // An id that the name does not have any more changes nothing.
  ledger.record({
    event: 'deleted',
    at,
    rows: [
      { name: 'a', id: 7 },
      { name: 'b', id: 9 },
    ],
  });
  await ledger.close();
  const { state } = readBatchLedger(ledger.path);
  expect(state.missing()).toEqual(['a']);
  expect([state.ownsId(7), state.ownsId(8)]).toEqual([true, true]);
  expect(state.counts()).toMatchObject({ created: 1, missing: 1 });
});
