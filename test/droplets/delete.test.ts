import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiClient, ApiRequest } from '../../src/api/client.ts';
import type { Droplet } from '../../src/api/droplets.ts';
import { CliError } from '../../src/base/errors.ts';
import {
  type DeleteOptions,
  type DeletionRow,
  deleteDroplet,
  deleteDroplets,
  findBatchTargets,
  reportDeletion,
  requireDeletable,
  toTarget,
} from '../../src/droplets/delete.ts';
import { createLane } from '../../src/droplets/lane.ts';
import { createLedgerAt } from '../../src/droplets/ledger.ts';
import { register } from '../../src/droplets/running.ts';
import { readBatchDroplets } from '../../src/droplets/show.ts';
import { createState } from '../../src/droplets/state.ts';
import { defaultTimeLimits } from '../../src/droplets/times.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { apiOf } from '../api/api-of.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { commandIo } from '../fixtures/command-io.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { batchOf, batchResponse, fastClock, instantClock } from './batch-fixtures.ts';

describe('confirm and delete droplets', () => {
  const options: DeleteOptions = {
    loginHints: workLoginHints,
    concurrency: 4,
    maxWait: 900_000,
    onPause: async () => {},
    isDryRun: false,
    profileOptions: ['--profile', 'work'],
  };

  function droplets(count: number): readonly Droplet[] {
    const raw = { region: { slug: 'nyc3' } };
    return Array.from({ length: count }, (_, at) => ({ id: String(at + 1), name: `n-${at + 1}`, raw }));
  }

  /** A command that was confirmed, or that has no terminal. */
  function ioOf(format: 'json' | 'ndjson' | 'table' = 'json', isConfirmed = true) {
    const io = commandIo({ ...testHost(), clock: fastClock() }, format);
    const globals = { ...io.globals, has: (option: string) => isConfirmed && option === 'yes' };
    return { ...io, globals, prompts: { ...io.prompts, confirm: async () => true } };
  }

  /** An API whose responses are those of `respond`, by the id of the droplet; it counts the requests in flight. */
  function apiOf(respond: (id: number) => ApiResponse) {
    const sent: string[] = [];
    let inFlight = 0;
    let most = 0;
    const api: ApiClient = {
      baseOrigin: 'https://api.example',
      success: () => Promise.reject(new Error('not used')),
      json: () => Promise.reject(new Error('not used')),
      request: async ({ method, path }) => {
        sent.push(`${method} ${path}`);
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inFlight -= 1;
        return respond(Number(path.split('/').at(-1)));
      },
    };
    return { api, sent, mostInFlight: () => most };
  }

  const done = batchResponse(204, '');

  describe('deleting droplets', () => {
    it('sends one request for each, a limited number at a time', async () => {
      const io = ioOf();
      const { api, sent, mostInFlight } = apiOf(() => done);
      expect(await deleteDroplets(io, api, [...droplets(50), ...droplets(3)], options)).toBe(0);
      expect(sent.toSorted()).toEqual(
        droplets(50)
          .map(({ id }) => `DELETE /v2/droplets/${id}`)
          .toSorted(),
      );
      expect(mostInFlight()).toBe(4);
      expect(io.host.json<DeletionRow[]>().map(({ id }) => String(id))).toEqual(droplets(50).map(({ id }) => id));
    });

    it('is noted for later creations of the same names', async () => {
      const io = ioOf();
      const machine = { clock: io.host.clock, folders: io.host.folders };
      const begin = async (id: string) => {
        const path = join(machine.folders.state, 'batches', `${id}.jsonl`);
        const ledger = await createLedgerAt(path, batchOf(['n-1', 'n-3'], { id, if_exists: 'skip' }), machine);
        return { ledger, entry: await register(machine, ledger) };
      };
      const { ledger, entry } = await begin('first');
      ledger.record({ event: 'sending', group: 1, names: ['n-1', 'n-3'] });
      const rows = ['1', '3'].map((id) => ({ name: `n-${id}`, id }));
      ledger.record({ event: 'created', group: 1, rows });
      await entry.end(ledger.state);
      const { api } = apiOf((id) => (id === 3 ? batchResponse(409, { id: 'conflict', message: 'busy' }) : done));
      expect(await deleteDroplets(io, api, droplets(3), options)).toBe(5);
      const { signal } = new AbortController();
      const later = (await begin('second')).entry;
      const others = await later.settleOthers({ maxWait: 0, signal, onWaiting: async () => {} });
      expect(others.gone).toEqual(new Set(['1']));
    });

    it('needs a confirmation', async () => {
      const io = ioOf('json', false);
      const { api, sent } = apiOf(() => done);
      expect(() => requireDeletable(io, false)).toThrow(expect.objectContaining({ exitCode: 2 }));
      await expect(deleteDroplets(io, api, droplets(1), options)).rejects.toMatchObject({ code: 'usage' });
      expect(sent).toEqual([]);
    });

    it('prints only with --dry-run', async () => {
      const io = ioOf('json', false);
      const { api, sent } = apiOf(() => done);
      expect(await deleteDroplets(io, api, droplets(2), { ...options, isDryRun: true })).toBe(0);
      expect(io.host.json()).toEqual([1, 2].map((id) => ({ id, name: `n-${id}`, region: 'nyc3' })));
      expect(sent).toEqual([]);
    });

    it.each(['json', 'ndjson'] as const)('has a row for each droplet after a stop (%s)', async (format) => {
      const io = ioOf(format);
      const { api, sent } = apiOf((id) => (id === 3 ? batchResponse(403, { message: 'no' }) : done));
      expect(await deleteDroplets(io, api, droplets(6), { ...options, concurrency: 1 })).toBe(5);
      const rows: readonly DeletionRow[] =
        format === 'json'
          ? io.host.json()
          : io.host
              .out()
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line));
      expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
        ...['1 deleted', '2 deleted', '3 failed', '4 failed', '5 failed', '6 failed'],
      ]);
      expect(sent).toHaveLength(3);
      const { error } = JSON.parse(io.host.err().trim().split('\n').at(-1) ?? '');
      expect(error).toMatchObject({ code: 'batch_partial', exit_code: 5 });
      expectGolden(
        'droplets',
        io.host
          .err()
          .split('\n')
          .filter((line) => !line.startsWith('n-'))
          .join('\n'),
        format,
      );
    });

    it('stops when the rows cannot be printed', async () => {
      const io = ioOf('ndjson');
      const failing = {
        ...io.output,
        pages: async () => {
          throw new CliError('output', 'ENOSPC');
        },
      };
      const { api, sent } = apiOf(() => done);
      const ran = deleteDroplets({ ...io, output: failing }, api, droplets(50), { ...options, concurrency: 1 });
      await expect(ran).rejects.toMatchObject({ code: 'output', exitCode: 7 });
      expect(sent.length).toBeLessThan(50);
    });

    it('passes on what no one expects', async () => {
      const { api } = apiOf(() => {
        throw new TypeError('a mistake');
      });
      await expect(deleteDroplets(ioOf(), api, droplets(2), options)).rejects.toThrow(TypeError);
    });
  });

  describe('the end of a deletion', () => {
    const rowsOf = (count: number, result: Partial<DeletionRow>): readonly DeletionRow[] =>
      droplets(count).map((target) => ({ ...target, status: 'deleted', ...result }) as DeletionRow);
    const end = { stopped: undefined, outputError: undefined, signal: undefined, profileOptions: [] };

    it.each([3, 30])('after a signal names what is left of %i droplets', async (count) => {
      const rows = rowsOf(count, { status: 'unknown', error: 'no response' });
      const error: unknown = await reportDeletion(ioOf('table'), { ...end, rows, signal: 'SIGTERM' }).catch((e) => e);
      if (!(error instanceof CliError)) throw error;
      expect(error).toMatchObject({ code: 'cancelled', exitCode: 143 });
      expectGolden('droplets', `${error.message}\n${error.detail}\n${error.hint}`);
    });

    it('names droplets that were already gone', async () => {
      const io = ioOf('table');
      expect(await reportDeletion(io, { ...end, rows: rowsOf(2, { already_gone: true }) })).toBe(0);
      expectGolden('droplets', io.host.err());
    });

    it('is exit 5 for droplets that are all unknown', async () => {
      const io = ioOf('table');
      expect(await reportDeletion(io, { ...end, rows: rowsOf(1, { status: 'unknown', error: 'e' }) })).toBe(5);
      expectGolden('droplets', io.host.err());
    });

    it('throws what stopped the run when nothing was deleted', async () => {
      const rows = rowsOf(2, { status: 'failed', error: 'e' });
      const stopped = new CliError('needs_login', 'the session has ended', { hint: 'log in' });
      await expect(reportDeletion(ioOf(), { ...end, rows, stopped })).rejects.toBe(stopped);
      await expect(reportDeletion(ioOf(), { ...end, rows })).rejects.toMatchObject({
        code: 'api_error',
        exitCode: 1,
      });
    });
  });

  describe('a droplet to delete', () => {
    it('has its region and its time', () => {
      const raw = { id: '7', name: 'a', region: { slug: 'nyc3' }, created_at: '2026-01-01T00:00:00Z' };
      expect(toTarget({ id: '7', name: 'a', raw })).toEqual({
        ...{ id: '7', name: 'a', region: 'nyc3', created_at: '2026-01-01T00:00:00Z' },
      });
      expect(toTarget({ id: '7', name: 'a', raw: { region: 'x', created_at: 1 } }).region).toBeUndefined();
    });
  });
});

describe('delete droplet by id', () => {
  type Step = ApiResponse | CliError | ((ended: AbortController) => ApiResponse | CliError);

  /** Deletes droplet 7; each request has its step, and the last one stays. */
  async function deleted(steps: readonly Step[], { isStopped = (): boolean => false, maxPause = 900_000 } = {}) {
    const sent: string[] = [];
    const [ending, ended] = [new AbortController(), new AbortController()];
    const api: ApiClient = {
      baseOrigin: 'https://api.example',
      success: () => Promise.reject(new Error('not used')),
      json: () => Promise.reject(new Error('not used')),
      request: async ({ method, path }: ApiRequest) => {
        const step = steps[Math.min(sent.length, steps.length - 1)] ?? batchResponse(500);
        sent.push(`${method} ${path}`);
        const result = typeof step === 'function' ? step(ending) : step;
        if (result instanceof CliError) throw result;
        return result;
      },
    };
    const clock = instantClock();
    const lane = createLane({ api, loginHints: workLoginHints, clock, maxPause, onPause: async () => {} });
    const end = await deleteDroplet('7', {
      ...{ lane, clock, isStopped, times: defaultTimeLimits },
      ...{ ending: ending.signal, ended: ended.signal },
    });
    const count = (method: string): number => sent.filter((line) => line.startsWith(method)).length;
    expect(sent.filter((line) => !line.endsWith(' /v2/droplets/7'))).toEqual([]);
    return { ...end, status: end.result?.status, deletes: count('DELETE'), gets: count('GET'), slept: clock.slept };
  }

  const done = batchResponse(204, '');
  const gone = batchResponse(404, { id: 'not_found', message: 'no' });
  const exists = batchResponse(200, { droplet: { id: '7', name: 'a' } });
  const broken = batchResponse(503);
  const lost = new CliError('unreachable', 'lost', { cause: new SendError('connection', true, 'lost') });
  const unsent = new CliError('unreachable', 'refused', { cause: new SendError('refused', false, 'refused') });

  describe('the deletion of one droplet', () => {
    it.each<[string, readonly Step[], string, number, number]>([
      ['204', [done], 'deleted', 1, 0],
      ['a lost response, then 204', [lost, done], 'deleted', 2, 0],
      ['a lost response, then 404', [lost, gone], 'deleted', 2, 0],
      ['a 200, then 404', [batchResponse(200, '<html>'), gone], 'deleted', 2, 0],
      ['a 409', [batchResponse(409, { id: 'conflict', message: 'busy' })], 'failed', 1, 0],
      ['a 404 of something else', [batchResponse(404, { id: 'no_such_path', message: 'no' })], 'failed', 1, 0],
      ['a 404 without an id', [batchResponse(404, {})], 'failed', 1, 0],
      ['a redirect elsewhere', [batchResponse(307)], 'failed', 1, 0],
      ['503 for ever, and the droplet gone', [broken, broken, broken, broken, broken, gone], 'deleted', 5, 1],
      ['503 for ever, and the droplet there', [broken, broken, broken, broken, broken, exists], 'unknown', 5, 1],
      ['503 for ever, also for the lookup', [broken], 'unknown', 5, 1],
      ['a lost response, then a refusal, and the droplet gone', [lost, batchResponse(422, {}), gone], 'deleted', 2, 1],
      ['a lost response, then a refusal, and it exists', [lost, batchResponse(422, {}), exists], 'unknown', 2, 1],
    ])('with %s', async (_what, steps, status, deletes, gets) => {
      expect(await deleted(steps)).toMatchObject({ status, deletes, gets });
    });

    it('says that the droplet was already gone only when no request of this run can have deleted it', async () => {
      expect((await deleted([gone])).result).toEqual({ status: 'deleted', already_gone: true });
      expect((await deleted([broken, gone])).result).toEqual({ status: 'deleted' });
    });

    it('waits for the rate limit, which is no attempt', async () => {
      const refusal = batchResponse(429, {}, { retryAfter: 60 });
      const ran = await deleted([...Array.from({ length: 9 }, () => refusal), done]);
      expect(ran).toMatchObject({ status: 'deleted', deletes: 10 });
      expect(ran.slept).toEqual(Array.from({ length: 9 }, () => 60_000));
    });

    it('stops where the rate limit takes too long', async () => {
      const ran = await deleted([batchResponse(429, {}, { retryAfter: 60 })], { maxPause: 30_000 });
      expect(ran).toMatchObject({ status: 'failed', deletes: 1, stop: { code: 'rate_limited' } });
    });

    it.each<[string, Step, string]>([
      ['a 403', batchResponse(403, { id: 'forbidden', message: 'no' }), 'scope_too_small'],
      ['an ended session', new CliError('needs_login', 'over'), 'needs_login'],
      ['a server that is not reached', unsent, 'unreachable'],
    ])('stops all at %s', async (_what, step, code) => {
      expect(await deleted([step])).toMatchObject({ status: 'failed', deletes: 1, stop: { code } });
      // The first request may have been carried out, whatever the second one meets.
      expect(await deleted([lost, step, broken])).toMatchObject({ status: 'unknown', deletes: 2, stop: { code } });
    });

    it('sends nothing when the run has stopped, and repeats nothing after that', async () => {
      expect(await deleted([done], { isStopped: () => true })).toMatchObject({
        result: undefined,
        deletes: 0,
        gets: 0,
      });
      let calls = 0;
      const isStopped = (): boolean => ++calls > 1;
      expect(await deleted([lost, gone], { isStopped })).toMatchObject({ status: 'deleted', deletes: 1, gets: 1 });
    });

    it('looks up what an interruption leaves unclear', async () => {
      const interrupted = (ending: AbortController): CliError => {
        ending.abort();
        return lost;
      };
      expect(await deleted([interrupted, gone])).toMatchObject({ status: 'deleted', deletes: 1, gets: 1 });
      expect(await deleted([interrupted, exists])).toMatchObject({ status: 'unknown', deletes: 1, gets: 1 });
    });

    it('waits for the rate limit of the lookup', async () => {
      const refusal = batchResponse(429, {}, { retryAfter: 1 });
      const ran = await deleted([broken, broken, broken, broken, broken, refusal, gone]);
      expect(ran).toMatchObject({ status: 'deleted', deletes: 5, gets: 2 });
    });
  });
});

describe('batch droplets', () => {
  /** A reader of a server whose lists have these droplets. */
  async function readerOf(droplets: readonly { readonly id: number; readonly name: string }[]) {
    const server = await serverFor(({ url }, response) => {
      if (/\/\d+$/.test(url)) return reply(response, 404, { id: 'not_found', message: 'no' });
      const name = new URL(url, 'http://x').searchParams.get('name');
      const found = droplets.filter((one) => name === null || one.name === name);
      reply(response, 200, { droplets: found, links: {}, meta: { total: found.length } });
    });
    const api = await apiOf(server.origin);
    return { api, pause: async () => {} };
  }

  function stateOf(isTagged: boolean) {
    const names = ['a', 'b', 'c', 'd'];
    const state = createState(
      batchOf(names, {
        ...(isTagged ? { content_hash: 'c0ffee000000' } : {}),
        attributes: { size: 's', image: 'i', region: 'r', extra: {} },
      }),
    );
    const at = '2026-01-01T00:00:00.000Z';
    state.apply({ event: 'baseline', at, existing: {} });
    state.apply({
      event: 'created',
      at,
      group: 1,
      rows: [1, 2, 3].map((id) => ({ name: names[id - 1] ?? '', id: String(id) })),
    });
    return state;
  }

  it.each([true, false])(
    'has the droplets as the server shows them, and the others as in the ledger (with --batch-id: %s)',
    async (mark) => {
      const tags = ['cloudctl:b1', 'cloudctl:b1:c0ffee000000'];
      const droplets = [
        { id: 1, name: 'A', tags, region: { slug: 'nyc3' } },
        // Without the tag of the batch.
        { id: 2, name: 'b', tags: [] },
        { id: 9, name: 'd', tags },
      ];
      const found = await findBatchTargets(stateOf(mark), await readerOf(droplets));
      expect(found.map(({ id, name, region }) => ({ id, name, region }))).toEqual([
        { id: '1', name: 'A', region: 'nyc3' },
        { id: '2', name: 'b', region: undefined },
        { id: '3', name: 'c', region: 'r' },
      ]);
    },
  );

  it.each([true, false])(
    'refuses a droplet with another name, also without the tag (with --batch-id: %s)',
    async (mark) => {
      const reader = await readerOf([{ id: 2, name: 'database' }]);
      await expect(findBatchTargets(stateOf(mark), reader)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it('reads only the ids of the ledger', async () => {
    const reader = await readerOf([
      { id: 1, name: 'a' },
      { id: 9, name: 'b' },
    ]);
    expect([...(await readBatchDroplets(stateOf(false), reader)).keys()]).toEqual(['1']);
  });
});
