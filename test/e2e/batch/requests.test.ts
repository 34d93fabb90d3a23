import { expect, it } from 'vitest';
import { recordedRequests } from '../../commands/run-cloudctl.ts';
import { admin, MAYA, userOf } from '../../sandbox/requests.ts';
import { type BatchSetup, type Row, setUpBatch, sizeAndImage } from './batch-setup.ts';

/** An account with 5,000 droplets: 25 pages. */
async function setUpLargeAccount(): Promise<BatchSetup> {
  const setup = await setUpBatch();
  const names = Array.from({ length: 5_000 }, (_, at) => `web-${at}`);
  const spec = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };
  setup.sandbox.world.droplets.create(userOf(setup.sandbox, MAYA).uuid, names, spec);
  await admin(setup.sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  return setup;
}

/** Creates droplets with --wait; resolves with the requests until the first poll was over, and with all. */
async function createAndWait(setup: BatchSetup, args: readonly string[]) {
  const running = setup.start(['droplets', 'create', ...args, ...sizeAndImage, '--wait', '-o', 'ndjson']);
  running.child.stdin?.end();
  await running.waitFor('stderr', /^0 of \d+ droplets active$/m);
  const untilPoll = (await recordedRequests(setup.sandbox)).filter((line) => line.includes('/v2/'));
  await admin(setup.sandbox, 'POST', '/_sandbox/clock', { advance: '1h' });
  const ran = await running.ended;
  const rows = ran.stdout
    .trim()
    .split('\n')
    .map((line): Row => JSON.parse(line));
  return { ran, rows, untilPoll };
}

it('three droplets in a large account need at most 20 requests until the first poll', async () => {
  const setup = await setUpLargeAccount();
  const { ran, rows, untilPoll } = await createAndWait(setup, ['a', 'b', 'c']);
  expect(ran.code).toBe(0);
  expect(rows.map(({ name, status }) => [name, status])).toEqual(['a', 'b', 'c'].map((name) => [name, 'created']));
  expect(rows.every((row) => 'public_ipv4' in row)).toBe(true);
  expect(untilPoll.length).toBeLessThanOrEqual(20);
});

it('many droplets are awaited on the pages where they are, and those with a tag on its pages', async () => {
  const setup = await setUpLargeAccount();
  const plain = await createAndWait(setup, ['n-{1..300}']);
  expect(plain.ran.code).toBe(0);
  expect(plain.rows.filter(({ status }) => status === 'created')).toHaveLength(300);
  // The account once for the names, 30 creations, and the first page and the last two pages of the poll.
  expect(plain.untilPoll.length).toBeLessThanOrEqual(1 + 26 + 30 + 4);
  const before = (await recordedRequests(setup.sandbox)).filter((line) => line.includes('/v2/')).length;
  const tagged = await createAndWait(setup, ['m-{1..300}', '--batch-id', 'nightly', '--ledger', 'nightly.jsonl']);
  expect(tagged.ran.code).toBe(0);
  // The account has two pages more, and its droplets are on the two pages of the tag.
  expect(tagged.untilPoll.length - before).toBeLessThanOrEqual(1 + 28 + 30 + 2);
});

it('one name is listed with one request', async () => {
  const setup = await setUpLargeAccount();
  const before = (await recordedRequests(setup.sandbox)).length;
  const ran = await setup.run(['droplets', 'list', 'web-4999', '-o', 'json']);
  expect(ran.json<Row[]>().map(({ name }) => name)).toEqual(['web-4999']);
  const requests = (await recordedRequests(setup.sandbox)).slice(before);
  expect(requests.filter((line) => line.includes('/v2/droplets'))).toHaveLength(1);
});
