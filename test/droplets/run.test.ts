import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { profileOptions } from '../../src/context/globals.ts';
import { listenForInterruption } from '../../src/droplets/io.ts';
import type { Ledger } from '../../src/droplets/ledger.ts';
import { describeBatch } from '../../src/droplets/options.ts';
import { printDryRun } from '../../src/droplets/plan.ts';
import { reportEnd, resultView, startNotice, startReporter } from '../../src/droplets/report.ts';
import { createMissing, isProven, type RunOptions, resumeCommand, runBatch } from '../../src/droplets/run.ts';
import { noOthers } from '../../src/droplets/running.ts';
import { createWaitResults } from '../../src/droplets/wait.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { argsFrom, commandIo } from '../fixtures/command-io.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { profileNamed } from '../fixtures/profile.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { apiOf, batchOf, batchResponse, fastClock, ledgerFor, respondCreated, testRun } from './batch-fixtures.ts';

describe('run batch', () => {
  function ioOf(format: 'json' | 'ndjson' = 'json') {
    return commandIo({ ...testHost(), clock: fastClock() }, format);
  }

  const options = (api: RunOptions['api']): RunOptions => ({
    api,
    loginHints: workLoginHints,
    onPause: async () => {},
    timeout: 30_000,
    batchSize: 10,
    concurrency: 1,
    maxWait: 900_000,
    profileOptions: [],
  });

  describe('a run of a batch', () => {
    it.each(['json', 'ndjson'] as const)('prints a row for every name as %s and ends with 0', async (format) => {
      const io = ioOf(format);
      const ledger = await ledgerFor(batchOf(['a', 'b']));
      expect(await runBatch(io, ledger, argsFrom({ ledger: ['x'] }), options(apiOf(respondCreated)))).toBe(0);
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

    describe('with a second droplet of a created name, which another machine made', () => {
      const second = { id: '900', name: 'a', created_at: '2001-01-01T00:00:00Z' };
      const limit = () => batchResponse(422, { id: 'droplet_limit', message: 'no more' });
      /** The droplet is in the lists from the first creation on. */
      const server = (post: (at: number) => ReturnType<typeof batchResponse> | undefined) => {
        const api = apiOf(
          (request, at) => post(at) ?? respondCreated(request),
          () => {
            const droplets = api.sent.length === 0 ? [] : [second];
            return batchResponse(200, { droplets, meta: { total: droplets.length } });
          },
        );
        return api;
      };

      it('names both ids although an error stopped it', async () => {
        const io = ioOf();
        const ledger = await ledgerFor(batchOf(['a', 'b']));
        const api = server((at) => (at === 1 ? limit() : undefined));
        expect(await runBatch(io, ledger, argsFrom({ ledger: ['x'] }), { ...options(api), batchSize: 1 })).toBe(5);
        expect(io.host.json<object[]>()[0]).toMatchObject({
          status: 'unknown',
          error: expect.stringMatching(/900.*100|100.*900/),
        });
      });

      it('names both ids when it is resumed after a kill', async () => {
        const io = ioOf();
        const ledger = await ledgerFor(batchOf(['a', 'b']));
        await ledger.commit({ event: 'baseline', existing: {} });
        await ledger.commit({ event: 'sending', group: 1, names: ['a'] });
        await ledger.commit({ event: 'created', group: 1, rows: [{ name: 'a', id: '100' }] });
        const api = server(() => undefined);
        expect(await runBatch(io, ledger, argsFrom({ resume: ['x'] }), { ...options(api), batchSize: 1 })).toBe(5);
        expect(io.host.json<object[]>()[0]).toMatchObject({
          status: 'unknown',
          error: expect.stringMatching(/900.*100|100.*900/),
        });
      });
    });

    it('that the rate limit ended is resumed without the --max-wait that ended it', async () => {
      const io = ioOf();
      const ledger = await ledgerFor(batchOf(['a', 'b']));
      const slow = batchResponse(429, { message: 'slow down' }, { retryAfter: 60 });
      const api = apiOf((sent, at) => (at === 0 ? respondCreated(sent) : slow));
      const args = argsFrom({ ledger: ['x'], 'max-wait': ['1s'], 'retry-for': ['1m'] });
      expect(await runBatch(io, ledger, args, { ...options(api), batchSize: 1, maxWait: 1_000 })).toBe(5);
      expect(io.host.err()).toMatch(/resume with `cloudctl droplets create --resume \S+ --retry-for 1m`/);
    });

    it('that a full disk ended says where to free space before it is resumed', async () => {
      const ledger = await ledgerFor(batchOf(['a', 'b']));
      await ledger.commit({ event: 'created', group: 1, rows: [{ name: 'a', id: '1' }] });
      const cause = Object.assign(new Error('full'), { code: 'ENOSPC' });
      const stopped = new CliError('storage', 'could not write the ledger', { hint: 'H', cause });
      const io = ioOf();
      const end = { results: createWaitResults(), outputError: undefined, signal: undefined, wait: false };
      await reportEnd(io, { ...end, state: ledger.state, stopped, resume: 'r', profileOptions: [] });
      expect(JSON.parse(io.host.err()).error.hint).toMatch(/^H; then .*`r`$/);
    });

    it('that created nothing throws the error of the server', async () => {
      const io = ioOf();
      const ledger = await ledgerFor(batchOf(['a']));
      const api = apiOf(() => batchResponse(422, { message: 'size is unknown' }));
      await expect(runBatch(io, ledger, argsFrom({ ledger: ['x'] }), options(api))).rejects.toMatchObject({
        code: 'api_error',
        detail: 'size is unknown',
      });
      expect(io.host.json()).toMatchObject([{ name: 'a', status: 'failed' }]);
    });

    it('that a signal ended is cancelled with the exit code of the signal', async () => {
      const { state } = await ledgerFor(batchOf(['a']));
      const end = {
        state,
        results: createWaitResults(),
        stopped: undefined,
        outputError: undefined,
        signal: 'SIGTERM',
        resume: 'r',
        wait: false,
      } as const;
      await expect(reportEnd(ioOf(), { ...end, profileOptions: [] })).rejects.toMatchObject({
        code: 'cancelled',
        exitCode: 143,
      });
    });
  });

  it('the first signal ends the sending, the second one the waiting', () => {
    const host = testHost();
    const interruption = listenForInterruption(host, 60_000);
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
    expect(resumeCommand('/a b.jsonl', args, profileOptions(globals, profileNamed('work')))).toBe(
      "cloudctl droplets create --resume '/a b.jsonl' --batch-size 2 --wait --profile work --base-url https://api.example",
    );
  });

  it('names and attributes are read from arguments and options', async () => {
    const args = argsFrom({ size: ['s'], image: ['12'], set: ['ipv6=true'], names: ['c'] }, ['web-{1..2}']);
    const settings = { profileName: 'default', values: {} };
    expect(await describeBatch(testHost(), args, settings, undefined)).toMatchObject({
      names: ['web-1', 'web-2', 'c'],
      attributes: { size: 's', image: 12, extra: { ipv6: true } },
    });
  });

  it('a dry run has one request for each group, with its curl command', async () => {
    const io = ioOf();
    const attributes = { size: 's', image: 'i', extra: {} };
    await printDryRun(io, ['a', 'b', 'c'], attributes, { batchSize: 2, baseUrl: 'https://h', profileOptions: [] });
    const requests = io.host.json<{ readonly body: unknown; readonly curl: string }[]>();
    expect(requests.map(({ body }) => body)).toEqual([
      { names: ['a', 'b'], size: 's', image: 'i' },
      { name: 'c', size: 's', image: 'i' },
    ]);
    expect(requests[0]?.curl).toContain('curl -X POST https://h/v2/droplets ');
  });

  it('the columns of a row are the documented ones', () => {
    expect(resultView.columns.map(({ name }) => name)).toEqual([
      'Name',
      'Status',
      'ID',
      'ActionID',
      'Error',
      'PublicIPv4',
      'Ledger',
    ]);
  });
});

describe('reconcile and create missing droplets', () => {
  async function send(ledger: Ledger, api = apiOf(respondCreated), others = noOthers) {
    const clock = fastClock();
    const io = commandIo({ ...testHost(), clock }, 'json');
    const notice = startNotice(io);
    onTestFinished(() => notice.stop());
    const reporter = await startReporter(notice.io, ledger, createWaitResults(), {
      waits: false,
      isLedgerKept: () => true,
    });
    const entry = { settleOthers: async () => others, settleNames: async () => {}, end: async () => true };
    const sent = { names: new Set<string>(), lastLookupAt: 0 };
    const stopped = await createMissing(notice, reporter, testRun(ledger, api, { clock }), entry, sent, {
      api,
      batchSize: 10,
      concurrency: 1,
      timeout: 30_000,
      maxWait: 900_000,
      onChecked: async () => {},
    });
    return { stopped, names: [...sent.names], lastLookupAt: sent.lastLookupAt };
  }

  describe('sending what a batch lacks', () => {
    it('creates every name, and then looks them up once more', async () => {
      for (const changes of [{}, { content_hash: 'c0ffee000000' }]) {
        const ledger = await ledgerFor(batchOf(['a', 'b'], changes));
        expect(await send(ledger)).toMatchObject({
          stopped: undefined,
          names: ['a', 'b'],
          lastLookupAt: expect.any(Number),
        });
        expect(ledger.state.counts()).toMatchObject({ created: 2, missing: 0 });
      }
    });

    it('resolves with the error that stopped it', async () => {
      const ledger = await ledgerFor(batchOf(['a']));
      const api = apiOf(() => batchResponse(403, { id: 'forbidden' }));
      expect((await send(ledger, api)).stopped).toMatchObject({ code: 'scope_too_small' });
    });

    it.each([
      ['with --batch-id', { content_hash: 'c0ffee000000' }, {}],
      ['and has the same attributes', {}, {}],
      ['and has another size', {}, { size_slug: 'large' }],
    ])('does not send an uncertain name again that another run has created: its droplet %s', async (_, batch, more) => {
      const ledger = await ledgerFor(batchOf(['a'], batch));
      const at = '2026-01-01T00:00:00.000Z';
      await ledger.commit({ event: 'baseline', at, existing: {} });
      await ledger.commit({ event: 'sending', at, group: 1, names: ['a'] });
      const droplet = { id: '7', name: 'a', tags: [], created_at: '2026-01-02T00:00:00Z', ...more };
      const api = apiOf(respondCreated, () => batchResponse(200, { droplets: [droplet], meta: { total: 1 } }));
      await send(ledger, api, { created: new Map([['a', ['7']]]), uncertain: new Map() });
      expect(api.sent).toEqual([]);
      expect([...ledger.state.rows()]).toMatchObject([{ name: 'a', status: 'failed', id: '7' }]);
    });

    it('stops before anything is sent when names are in use', async () => {
      const taken = [{ id: '1', name: 'a' }];
      const ledger = await ledgerFor(batchOf(['a'], { if_exists: 'fail' }));
      const api = apiOf(respondCreated, () => batchResponse(200, { droplets: taken, meta: { total: 1 } }));
      await expect(send(ledger, api)).rejects.toMatchObject({ code: 'usage' });
      expect(api.sent).toEqual([]);
    });
  });
});

describe('single droplet creation', () => {
  const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

  function filesOf({ place }: TestHost): readonly string[] {
    const folder = join(place.state, 'batches');
    return existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'running') : [];
  }

  async function loggedIn(clock = testHost().clock) {
    const [host, sandbox] = [{ ...testHost(), clock }, await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    return {
      host,
      sandbox,
      create: (...words: string[]) => runCloudctl(host, ['droplets', 'create', ...words, ...like]),
    };
  }

  async function withServer(post: RequestHandler) {
    const { origin } = await serverFor((seen, response) =>
      seen.method === 'GET' ? reply(response, 200, { droplets: [], meta: { total: 0 } }) : post(seen, response, 0),
    );
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
    return { ...host, clock: fastClock() };
  }

  describe('a plain creation of one name', () => {
    it.each(['json', 'ndjson', 'table'])('leaves no file and names none (%s)', async (format) => {
      const { host, create } = await loggedIn();
      const ran = await create('a', '-o', format);
      expect(ran.code).toBe(0);
      expect(filesOf(host)).toEqual([]);
      expect(`${ran.out}${ran.err}`).not.toMatch(/ledger|batches/);
    });

    it('leaves no file when the name is skipped', async () => {
      const { host, create } = await loggedIn();
      await create('a');
      expect(await create('a', '--if-exists', 'skip')).toMatchObject({ code: 0 });
      expect(filesOf(host)).toEqual([]);
    });

    it('keeps the file and prints its path when the server refuses the name', async () => {
      const { host, create } = await loggedIn();
      const ran = await create('a', '--region', 'moon1');
      expect(ran.code).toBe(1);
      const path = /^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '';
      expect(existsSync(path)).toBe(true);
      expect(filesOf(host)).not.toEqual([]);
      const json = await create('b', '--region', 'moon1', '-o', 'json');
      const [row] = json.json<{ ledger: string }[]>();
      expect(existsSync(row?.ledger ?? '')).toBe(true);
    });

    it('keeps the file when the result is unknown', async () => {
      const host = await withServer((_, response) => reply(response, 202, { droplet: { id: '1', name: 'other' } }));
      const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like]);
      expect(ran.code).toBe(5);
      expect(existsSync(/^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '')).toBe(true);
    });

    it('prints the file of --ledger and --batch-id first, and keeps it', async () => {
      const { host, create } = await loggedIn(fastClock());
      const file = join(host.place.home, 'batch.jsonl');
      for (const words of [
        ['x', '--ledger', file],
        ['y', '--batch-id', 'y', '--ledger', `${file}.y`],
        ['z', '--batch-id', 'nightly'],
      ]) {
        const ran = await create(...words);
        expect(ran.code).toBe(0);
        expect(existsSync(/^ledger: (.+)$/m.exec(ran.err)?.[1] ?? '')).toBe(true);
      }
    });
  });

  it('a droplet without an action may have been found by a lookup: it is not proven', () => {
    expect(isProven({ name: 'a', status: 'created', id: '1' })).toBe(false);
    expect(isProven({ name: 'a', status: 'created', id: '1', action_id: '2' })).toBe(true);
    expect(isProven({ name: 'a', status: 'unknown', error: 'x' })).toBe(false);
  });
});
