import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CliErrorCode } from '../../../src/base/errors.ts';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type BatchSetup, setUpBatch, sizeAndImage } from './batch-setup.ts';

interface Path {
  readonly title: string;
  readonly args: readonly string[];
  readonly env?: (setup: BatchSetup) => Environment | Promise<Environment>;
  readonly prepare?: (setup: BatchSetup) => void | Promise<void>;
  readonly fault?: Omit<FaultSpec, 'match'>;
  /** The code of the error; absent: the run succeeds and prints nothing on stderr. */
  readonly code?: CliErrorCode;
  readonly exit: number;
  /** The statuses of the rows; absent: nothing is printed. */
  readonly statuses?: readonly string[];
}

const post = { method: 'POST', path: '/v2/droplets' };
const one = ['a', ...sizeAndImage];
const two = ['a', 'b', ...sizeAndImage, '--batch-size', '1', '--concurrency', '1'];
const full = fileURLToPath(new URL('./full.cjs', import.meta.url));

const paths: readonly Path[] = [
  { title: 'success', args: two, exit: 0, statuses: ['created', 'created'] },
  { title: 'success after --wait', args: [...two, '--wait'], exit: 0, statuses: ['created', 'created'] },
  {
    ...{ title: 'success with progress', args: ['n-{01..40}', ...sizeAndImage, '--batch-size', '2'], exit: 0 },
    statuses: Array(40).fill('created'),
  },
  {
    ...{ title: 'success after a wait for the rate limit', args: two, exit: 0, statuses: ['created', 'created'] },
    fault: { action: 'rate_limit' },
  },
  {
    ...{ title: 'skipped names', args: ['db-01', 'n', ...sizeAndImage, '--if-exists', 'skip'], exit: 0 },
    statuses: ['skipped', 'created'],
  },
  {
    ...{ title: 'a response that was lost', args: one, exit: 0, statuses: ['created'] },
    fault: { action: 'commit_then_drop' },
  },
  {
    ...{ title: 'some names refused', args: two, code: 'batch_partial', exit: 5, statuses: ['created', 'failed'] },
    fault: { action: 'status', status: 422, nth: 2 },
  },
  {
    ...{ title: 'a session without write scope in the middle', args: two, code: 'batch_partial', exit: 5 },
    ...{ statuses: ['created', 'failed'], fault: { action: 'status', status: 403, nth: 2 } },
  },
  {
    ...{ title: 'every name refused', args: [...two, '--region', 'atlantis'], code: 'api_error', exit: 1 },
    statuses: ['failed', 'failed'],
  },
  { title: 'existing names', args: ['db-01', ...sizeAndImage], code: 'usage', exit: 2 },
  { title: 'no names', args: [], code: 'usage', exit: 2 },
  { title: 'an unknown option', args: [...one, '--colour', 'red'], code: 'usage', exit: 2 },
  { title: 'an unknown column', args: [...one, '--format', 'Colour'], code: 'usage', exit: 2 },
  { title: 'an invalid query', args: [...one, '--query', '[?'], code: 'usage', exit: 2 },
  { title: 'a repeated name', args: ['a', ...one], code: 'usage', exit: 2 },
  { title: 'a missing ledger', args: ['--resume', 'missing.jsonl'], code: 'usage', exit: 2 },
  {
    ...{ title: 'a damaged ledger', args: ['--resume', 'damaged.jsonl'], code: 'config_invalid', exit: 2 },
    prepare: ({ work }) => writeFileSync(join(work, 'damaged.jsonl'), '{"event":"other"}\n{"event":"batch"}\n'),
  },
  {
    ...{ title: 'a refused token', args: one, code: 'token_refused', exit: 4 },
    env: () => ({ CLOUDCTL_ACCESS_TOKEN: 'refused' }),
  },
  {
    ...{ title: 'no session', args: one, code: 'not_logged_in', exit: 4 },
    prepare: ({ folders }) => rmSync(folders.state, { recursive: true }),
  },
  {
    ...{ title: 'an unreachable server', args: one, code: 'unreachable', exit: 6, statuses: ['failed'] },
    env: async () => ({ CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: await closedOrigin() }),
  },
  {
    ...{ title: 'a damaged config.json', args: one, code: 'config_invalid', exit: 2 },
    prepare: ({ folders }) => writeFileSync(join(folders.config, 'config.json'), '{"profiles":'),
  },
  {
    ...{ title: 'a state folder that is a file', args: one, code: 'storage', exit: 7 },
    ...{ prepare: ({ work }) => writeFileSync(join(work, 'file'), '') },
    env: async ({ sandbox, work }) => ({
      CLOUDCTL_ACCESS_TOKEN: (await tokenFor(sandbox)).access_token,
      CLOUDCTL_STATE_DIR: join(work, 'file'),
    }),
  },
  {
    ...{ title: 'a full disk', args: two, code: 'batch_partial', exit: 5, statuses: ['created', 'failed'] },
    env: () => ({ NODE_OPTIONS: `--require ${full}`, TEST_FULL_AT: '"event":"created"' }),
  },
];

describe('droplets create with -o json: stderr is empty or one error object', () => {
  it.each(paths)('$title', async ({ args, env, prepare, fault, code, exit, statuses }) => {
    const setup = await setUpBatch();
    await prepare?.(setup);
    if (fault !== undefined) setup.sandbox.faults.add({ match: post, ...fault });
    const ran = await setup.run(['droplets', 'create', ...args, '-o', 'json'], { env: (await env?.(setup)) ?? {} });
    expectJson(ran, { code, exit, statuses });
  });
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('after %s, stderr has one error object', async (signal, exit) => {
  const setup = await setUpBatch();
  setup.sandbox.faults.add({ match: post, action: 'delay', delay: 300, times: 100 });
  const running = setup.start(['droplets', 'create', 'n-{1..40}', ...two.slice(2), '-o', 'json']);
  while (setup.counts(['n-1'])[0] === 0) await sleep(20);
  running.kill(signal);
  const ran = await running.ended;
  const rows = ran.json<{ readonly status: string }[]>();
  expectJson(ran, { code: 'cancelled', exit, statuses: rows.map(({ status }) => status) });
  expect(rows).toHaveLength(40);
});

it.each(['ndjson', 'table', 'csv', 'yaml'])('with -o %s the first line on stderr is the ledger', async (format) => {
  const setup = await setUpBatch();
  for (const quiet of [[], ['--quiet']]) {
    const names = quiet.length === 0 ? ['a', 'b'] : ['c', 'd'];
    const ran = await setup.run(['droplets', 'create', ...names, ...sizeAndImage, '-o', format, ...quiet]);
    expect(ran.code).toBe(0);
    expect(ran.stderr.split('\n')[0]).toMatch(/^ledger: \/.*\/batches\/\w+\.jsonl$/);
  }
});

interface Expected {
  readonly code: CliErrorCode | undefined;
  readonly exit: number;
  readonly statuses: readonly string[] | undefined;
}

function expectJson(ran: Ran, { code, exit, statuses }: Expected): void {
  const error = ran.stderr === '' ? undefined : JSON.parse(ran.stderr);
  expect({ exit: ran.code, error }).toMatchObject({
    exit,
    error: code === undefined ? undefined : { error: { code, exit_code: exit } },
  });
  if (statuses === undefined) {
    expect(ran.stdout).toBe('');
    return;
  }
  const rows = ran.json<{ readonly status: string; readonly ledger: string }[]>();
  expect(rows.map(({ status }) => status)).toEqual(statuses);
  for (const { ledger } of rows) expect(ledger).toMatch(/^\/.*\/batches\/\w+\.jsonl$/);
}
