import { describe, expect, it } from 'vitest';
import { type BatchSetup, ndjsonRows, setUpBatch, sizeAndImage } from './batch-setup.ts';

/** The waits are 20 times shorter: 1.5 s instead of 30 s, and at the end 6 s instead of 2 min. */
const acceleration = 20;
/** 90 s in the product: the droplets appear after their names were sent again, and before the last lookup. */
const tooLate = 4_500;

const names = Array.from({ length: 6 }, (_, at) => `n-${at + 1}`);
const create = ['droplets', 'create', 'n-{1..6}', ...sizeAndImage, '--batch-size', '2', '-o', 'json'];

interface PrintedRow {
  readonly name: string;
  readonly status: string;
  readonly error?: string;
}

/** The second request is carried out, or becomes visible, later than the client waits. */
async function serverWith(lateness: 'commit_late' | 'lag_lists'): Promise<BatchSetup> {
  const setup = await setUpBatch({ acceleration });
  const creation = { method: 'POST', path: '/v2/droplets' };
  if (lateness === 'commit_late')
    setup.sandbox.faults.add({ match: creation, nth: 2, action: 'commit_late', delay: tooLate });
  else {
    const match = { method: 'GET', path: '/v2/droplets' };
    setup.sandbox.faults.add({ match: creation, nth: 2, action: 'commit_then_drop' });
    setup.sandbox.faults.add({ match, action: 'lag_lists', delay: tooLate, times: 1_000 });
  }
  return setup;
}

describe('a server that is later than the client waits', () => {
  it.each([
    ['commit_late', []],
    ['lag_lists', []],
    ['commit_late', ['--batch-id', 'nightly', '--ledger', 'nightly.jsonl']],
    ['lag_lists', ['--batch-id', 'nightly']],
  ] as const)('%s, %j: the end of the batch names what exists twice, with exit 5', async (lateness, named) => {
    const setup = await serverWith(lateness);
    const ran = await setup.run([...create, ...named]);
    const twice = names.filter((name) => setup.ids(name).length === 2);
    expect(twice).toHaveLength(2);
    expect(setup.counts(names).every((count) => count === 1 || count === 2)).toBe(true);
    expect(ran.code).toBe(5);
    const rows = ran.json<readonly PrintedRow[]>();
    expect(rows.filter(({ status }) => status === 'unknown').map(({ name }) => name)).toEqual(twice);
    for (const { name, error = '' } of rows.filter(({ status }) => status === 'unknown'))
      for (const id of setup.ids(name)) expect(error).toContain(String(id));
  });

  it('prints the names again as NDJSON, whose rows are printed as they become known', async () => {
    const setup = await serverWith('commit_late');
    const ran = await setup.run([...create, '-o', 'ndjson']);
    expect(ran.code).toBe(5);
    const last = new Map(ndjsonRows(ran.stdout).map(({ name, status }) => [name, status]));
    const twice = names.filter((name) => setup.ids(name).length === 2);
    expect(names.filter((name) => last.get(name) === 'unknown')).toEqual(twice);
  });

  it('a batch whose responses all arrive does not wait at its end', async () => {
    const setup = await setUpBatch({ acceleration });
    expect(await setup.run(create)).toMatchObject({ code: 0 });
    expect(setup.sandbox.requests('GET /v2/droplets').length).toBeLessThanOrEqual(2);
  });
});
