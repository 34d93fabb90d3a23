import { expect, it } from 'vitest';
import { createSharedDropletScan } from '../../../src/batch/lookup/shared-droplet-scan.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchResponse, instantClock } from '../batch-fixtures.ts';

/** Three pages of one droplet each. */
function scanOf(tags: readonly string[], tag: string | undefined) {
  const api = apiOf(
    () => batchResponse(500),
    ({ path }) => {
      const page = Number(new URL(path, 'https://api.example').searchParams.get('page'));
      const links = page < 3 ? { pages: { next: `/v2/droplets?page=${page + 1}` } } : {};
      return batchResponse(200, { droplets: [{ id: page, name: `n-${page}`, tags }], links, meta: { total: 3 } });
    },
  );
  const onPause = async (): Promise<void> => {};
  const lane = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock: instantClock(),
    maxPause: 900_000,
    onPause,
  });
  return { scan: createSharedDropletScan(lane, tag), api };
}

const query = (isWorthwhile: (left: number, count: number) => boolean) => ({
  names: ['n-3', 'x'],
  has: (name: string) => name === 'n-3',
  isWorthwhile,
});
const { signal } = new AbortController();

it('a scan asks after the first page whether the others are worth their requests', async () => {
  const { scan, api } = scanOf([], undefined);
  const reported: number[][] = [];
  const outcome = await scan.find(
    query((left, count) => {
      reported.push([left, count]);
      return false;
    }),
    signal,
  );
  expect([outcome, reported, scan.pages(), api.read.length]).toEqual(['stopped', [[2, 2]], 3, 1]);
  expect(
    await scan.find(
      query(() => true),
      signal,
    ),
  ).toMatchObject({ conclusive: true, hasTotal: true });
});

it('a scan ends at a droplet without the tag', async () => {
  expect(
    await scanOf(['b'], 'a').scan.find(
      query(() => true),
      signal,
    ),
  ).toBe('unfiltered');
  expect(
    await scanOf(['A'], 'a').scan.find(
      query(() => true),
      signal,
    ),
  ).toMatchObject({ conclusive: true });
});
