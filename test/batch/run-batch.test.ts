import { describe, expect, it } from 'vitest';
import { listenForBatchInterruption } from '../../src/batch/batch-interruption.ts';
import { readBatchDropletNames, readDropletAttributes } from '../../src/batch/options/create-args.ts';
import { batchResultListView } from '../../src/batch/report/batch-reporter.ts';
import { reportBatchEnd } from '../../src/batch/report/batch-run-result.ts';
import { buildBatchDryRunHttpRequests } from '../../src/batch/report/dry-run.ts';
import { formatBatchResumeCommand, formatProfileAndServerOptions } from '../../src/batch/report/resume-command.ts';
import { type RunBatchOptions, runBatch } from '../../src/batch/run-batch.ts';
import { createDropletWaitResults } from '../../src/batch/waiting/wait-results.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { argsFrom, commandIo } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';
import { profileNamed } from '../fixtures/profile.ts';
import { apiOf, batchOf, batchResponse, fastClock, ledgerFor, respondCreated } from './batch-fixtures.ts';

function ioOf(format: 'json' | 'ndjson' = 'json') {
  return commandIo({ ...testHost(), clock: fastClock() }, format);
}

const options = (api: RunBatchOptions['api']): RunBatchOptions => ({
  api,
  loginHints: workLoginHints,
  onPause: async () => {},
  timeout: 30_000,
  batchSize: 10,
  concurrency: 1,
  wait: false,
  waitTimeout: 900_000,
  maxWait: 900_000,
  resume: 'cloudctl droplets create --resume LEDGER',
  profileOptions: [],
});

describe('a run of a batch', () => {
  it.each(['json', 'ndjson'] as const)('prints a row for every name as %s and ends with 0', async (format) => {
    const io = ioOf(format);
    const ledger = await ledgerFor(batchOf(['a', 'b']));
    expect(await runBatch(io, ledger, options(apiOf(respondCreated)))).toBe(0);
    const rows =
      format === 'json'
        ? io.host.json<object[]>()
        : io.host
            .out()
            .trim()
            .split('\n')
            .map((row) => JSON.parse(row));
    expect(rows).toMatchObject([
      { name: 'a', status: 'created' },
      { name: 'b', status: 'created' },
    ]);
  });

  it('that created nothing throws the error of the server', async () => {
    const io = ioOf();
    const ledger = await ledgerFor(batchOf(['a']));
    const api = apiOf(() => batchResponse(422, { message: 'size is unknown' }));
    await expect(runBatch(io, ledger, options(api))).rejects.toMatchObject({
      code: 'api_error',
      detail: 'size is unknown',
    });
    expect(io.host.json()).toMatchObject([{ name: 'a', status: 'failed' }]);
  });

  it('that a signal ended is cancelled with the exit code of the signal', async () => {
    const { state } = await ledgerFor(batchOf(['a']));
    const end = {
      state,
      results: createDropletWaitResults(),
      stopped: undefined,
      outputError: undefined,
      signal: 'SIGTERM',
      resume: 'r',
      wait: false,
    } as const;
    await expect(reportBatchEnd(ioOf(), { ...end, profileOptions: [] })).rejects.toMatchObject({
      code: 'cancelled',
      exitCode: 143,
    });
  });
});

it('the first signal ends the sending, the second one the waiting', () => {
  const host = testHost();
  const interruption = listenForBatchInterruption(host, 60_000);
  host.signal('SIGINT');
  expect([interruption.ending.aborted, interruption.ended.aborted]).toEqual([true, false]);
  host.signal('SIGTERM');
  expect(interruption.ended.aborted).toBe(true);
  expect(interruption.receivedSignal()).toBe('SIGINT');
  interruption.stop();
});

it('the resume command repeats sizes, --wait, profile and servers', () => {
  const args = argsFrom({ 'batch-size': ['2'], wait: [''] });
  const globals = argsFrom({ 'base-url': ['https://api.example'] });
  expect(
    formatBatchResumeCommand('/a b.jsonl', args, formatProfileAndServerOptions(globals, profileNamed('work'))),
  ).toBe(
    "cloudctl droplets create --resume '/a b.jsonl' --batch-size 2 --wait --profile work --base-url https://api.example",
  );
});

it('names and attributes are read from arguments and options', async () => {
  const args = argsFrom({ size: ['s'], image: ['12'], set: ['ipv6=true'], names: ['c'] }, ['web-{1..2}']);
  expect(await readBatchDropletNames(ioOf(), args)).toEqual(['web-1', 'web-2', 'c']);
  expect(readDropletAttributes(args)).toEqual({ size: 's', image: 12, extra: { ipv6: true } });
});

it('a dry run has one request for each group, with its curl command', () => {
  const attributes = { size: 's', image: 'i', extra: {} };
  const requests = [
    ...buildBatchDryRunHttpRequests(['a', 'b', 'c'], attributes, {
      batchSize: 2,
      baseUrl: 'https://h',
      profileOptions: [],
    }),
  ];
  expect(requests.map(({ body }) => body)).toEqual([
    { names: ['a', 'b'], size: 's', image: 'i' },
    { name: 'c', size: 's', image: 'i' },
  ]);
  expect(requests[0]?.curl).toContain('curl -X POST https://h/v2/droplets ');
});

it('the columns of a row are those of the contract', () => {
  expect(batchResultListView.columns.map(({ name }) => name)).toEqual([
    'Name',
    'Status',
    'ID',
    'ActionID',
    'Error',
    'PublicIPv4',
    'Ledger',
  ]);
});
