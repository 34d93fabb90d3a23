import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import type { Batch } from '../../src/droplets/events.ts';
import type { Ledger } from '../../src/droplets/ledger.ts';
import { createRetry, reasonToRetry, repeatStep } from '../../src/droplets/retry.ts';
import { type RunOptions, runBatch } from '../../src/droplets/run.ts';
import { createState } from '../../src/droplets/state.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { argsFrom, commandIo } from '../fixtures/command-io.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import {
  apiOf,
  batchOf,
  batchResponse,
  fastClock,
  instantClock,
  ledgerFor,
  namesOf,
  type Respond,
  respondCreated,
} from './batch-fixtures.ts';

const unreachable = (): never => {
  throw new CliError('unreachable', 'no route', {
    cause: new SendError('connection', false, 'refused'),
  });
};
const emptyList = () => batchResponse(200, { droplets: [], meta: { total: 0 } });

interface Ended {
  readonly code?: number;
  readonly error?: CliError;
  readonly rows: readonly { readonly name: string; readonly status: string }[];
  readonly err: string;
  readonly posts: readonly (readonly string[])[];
  readonly ledger: Ledger;
}

/** Runs a batch with `--retry-for`, with names in groups of one. */
async function run(
  names: readonly string[],
  post: Respond,
  options: {
    get?: Respond;
    limit?: number;
    changes?: Partial<Batch>;
    batchSize?: number;
    signal?: string;
  } = {},
): Promise<Ended> {
  const host = { ...testHost(), clock: fastClock(2_000) };
  const io = commandIo(host, 'ndjson');
  const ledger = await ledgerFor(batchOf(names, options.changes), host.clock);
  const api = apiOf(post, options.get);
  const settings: RunOptions = {
    api,
    loginHints: workLoginHints,
    onPause: async () => {},
    timeout: 30_000,
    batchSize: options.batchSize ?? 1,
    concurrency: 1,
    maxWait: 900_000,
    retry: createRetry(host, options.limit ?? 3_600_000),
    profileOptions: [],
  };
  const output = {
    ...io.output,
    note: (text: string) => {
      if (options.signal !== undefined && text.startsWith('Next try')) host.signal('SIGTERM');
      return io.output.note(text);
    },
  };
  const ended = await runBatch(
    { ...io, output },
    ledger,
    argsFrom({ ledger: ['x'], 'retry-for': ['1h'] }),
    settings,
  ).then(
    (code) => ({ code }),
    (error: CliError) => ({ error }),
  );
  const lines = host
    .out()
    .split('\n')
    .filter((line) => line !== '');
  return {
    ...ended,
    rows: lines.map((line) => JSON.parse(line)),
    err: host.err(),
    posts: api.sent.map(namesOf),
    ledger,
  };
}

const tries = ({ err }: Ended): number => err.match(/^Next try in /gm)?.length ?? 0;

describe('--retry-for', () => {
  it('repeats after a lost connection, and prints each row once', async () => {
    const ended = await run(['a', 'b', 'c'], (request, at) =>
      at === 1 || at === 2 ? unreachable() : respondCreated(request),
    );
    expect(ended).toMatchObject({ code: 0, posts: [['a'], ['b'], ['b'], ['b'], ['c']] });
    expect(ended.rows.map(({ name, status }) => [name, status])).toEqual(
      ['a', 'b', 'c'].map((name) => [name, 'created']),
    );
    expect(tries(ended)).toBe(2);
    expect(ended.err).toContain('no route');
  });

  it('repeats when the names in use cannot be read', async () => {
    const get: Respond = (_, at) => (at < 3 ? batchResponse(503) : emptyList());
    const ended = await run(['a'], respondCreated, { get });
    expect(ended).toMatchObject({ code: 0, posts: [['a']] });
    expect(tries(ended)).toBeGreaterThan(0);
  });

  it('does not send again what the server refused, and prints that row at once', async () => {
    const ended = await run(['a', 'b', 'c'], (request, at) => {
      if (namesOf(request)[0] === 'a') return batchResponse(422, { message: 'size is unknown' });
      return at === 1 ? unreachable() : respondCreated(request);
    });
    expect(ended).toMatchObject({ code: 5, posts: [['a'], ['b'], ['b'], ['c']] });
    expect(ended.rows.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'failed'],
      ['b', 'created'],
      ['c', 'created'],
    ]);
    expect(tries(ended)).toBe(1);
  });

  it.each([
    [403, 'scope_too_small'],
    [422, 'api_error'],
  ])('ends at once when the server refuses everything (%i)', async (status, code) => {
    const ended = await run(['a', 'b'], () => batchResponse(status, { message: 'no' }));
    expect(ended.error?.code).toBe(code);
    expect(tries(ended)).toBe(0);
    expect(ended.rows).toHaveLength(2);
  });

  it('looks unknown names up again until a lookup settles them', async () => {
    let isCreated = false;
    const ended = await run(
      ['a', 'b'],
      () => {
        isCreated = true;
        return batchResponse(500);
      },
      {
        batchSize: 2,
        get: (_, at) => {
          if (!isCreated) return emptyList();
          if (at < 14) return batchResponse(503);
          const created = { size_slug: 's', image: { slug: 'i' }, created_at: '2026-01-01T00:00:01Z' };
          const droplets = ['a', 'b'].map((name, id) => ({ id: id + 1, name, ...created }));
          return batchResponse(200, { droplets, meta: { total: 2 } });
        },
      },
    );
    expect(ended).toMatchObject({ code: 0, posts: [['a', 'b']] });
    expect(ended.rows.map(({ status }) => status)).toEqual(['created', 'created']);
    expect(tries(ended)).toBeGreaterThan(0);
  });

  it('does not repeat for a name that two droplets have', async () => {
    const ended = await run(['a'], respondCreated, {
      get: (_, at) => {
        const droplets = at < 1 ? [] : [100, 7].map((id) => ({ id, name: 'a', created_at: '2026-01-01T00:00:09Z' }));
        return batchResponse(200, { droplets, meta: { total: droplets.length } });
      },
    });
    expect(ended).toMatchObject({ code: 5 });
    expect(ended.rows.at(-1)).toMatchObject({ name: 'a', status: 'unknown' });
    expect(tries(ended)).toBe(0);
  });

  it('ends with the exit code and the rows of the last try when the time is over', async () => {
    const ended = await run(['a', 'b'], unreachable, { limit: 900_000 });
    expect(ended.error).toMatchObject({ code: 'unreachable', exitCode: 6 });
    expect(ended.rows.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'failed'],
      ['b', 'failed'],
    ]);
    expect(tries(ended)).toBeGreaterThan(3);
  });

  it('a signal ends a wait between two tries', async () => {
    const ended = await run(['a'], unreachable, { signal: 'SIGTERM' });
    expect(ended.error).toMatchObject({ code: 'cancelled', exitCode: 143 });
    expect(ended.error?.hint).toContain('--resume');
    expect(ended.error?.hint).toContain('--retry-for 1h');
    expect(ended.posts).toHaveLength(1);
    expect(ended.rows).toHaveLength(1);
  });

  it('waits 5, 10, 20, 40 and then 60 seconds, and never beyond the limit', async () => {
    const clock = instantClock();
    const { output, host } = commandIo(testHost());
    const retry = createRetry({ clock, env: {} }, 150_000);
    const step = () => repeatStep(retry, output, new AbortController().signal, async () => unreachable());
    await expect(step()).rejects.toMatchObject({ code: 'unreachable' });
    expect(clock.slept).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 15_000]);
    expectGolden('droplets', host.err());
  });

  it.each([
    ['busy', undefined, false],
    ['usage', undefined, false],
    ['tls', undefined, false],
    ['needs_login', undefined, false],
    ['internal', undefined, false],
    ['api_error', 422, false],
    ['api_error', 502, true],
    ['api_error', 408, true],
    ['rate_limited', 429, true],
    ['timeout', undefined, true],
    ['incomplete_list', undefined, true],
  ] as const)('after %s (%s) another try is made: %s', (code, status, isRepeated) => {
    const state = createState(batchOf(['a']));
    expect(reasonToRetry(state, new CliError(code, 'x', { status })) !== undefined).toBe(isRepeated);
  });

  it('does not repeat because droplets are not active in time', () => {
    const error = new CliError('timeout', '1 of 2 droplets are not active after 15m', { exitCode: 5 });
    expect(reasonToRetry(createState(batchOf(['a'])), error)).toBeUndefined();
  });
});
