import { expect, it } from 'vitest';
import type { StatusSample } from '../../../src/watch/status-sample.ts';
import { openWatchScreen } from '../../../src/watch/view/watch-screen.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';

const sample: StatusSample = {
  ...{ at: '2026-01-01T00:00:00.000Z', phase: 'copying', percent: 1, bytes_done: 1, bytes_total: 9, lag_bytes: 0 },
  ...{ deadline: null, deadline_from: 'unknown', databases: [], violations: [] },
};

it.each([
  ['ndjson', 2],
  ['csv', 1],
] as const)('%s prints %i of two samples', async (format, count) => {
  const host = testHost();
  const screen = await openWatchScreen(commandIo(host, format), 'h:1', false);
  await screen.show(sample);
  await screen.show({ ...sample, percent: 2 });
  await screen.close();
  expect(host.out().match(/2026-01-01/g)).toHaveLength(count);
  expect(host.out()).toMatch(/\b2\b/);
});
