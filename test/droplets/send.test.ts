import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiRequest } from '../../src/api/client.ts';
import { CliError } from '../../src/base/errors.ts';
import type { Batch, LedgerEvent, NewEvent } from '../../src/droplets/events.ts';
import type { Ledger } from '../../src/droplets/ledger.ts';
import { expandNames } from '../../src/droplets/names.ts';
import { detectLateResponses, type LateResponses, sendMissing } from '../../src/droplets/send.ts';
import type { Row } from '../../src/droplets/state.ts';
import { defaultTimeLimits } from '../../src/droplets/times.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { expectGolden } from '../fixtures/golden.ts';
import {
  apiOf,
  batchOf,
  batchResponse,
  fastClock,
  instantClock,
  ledgerFor,
  namesOf,
  respondCreated,
  type ScriptedApi,
  testRun,
} from './batch-fixtures.ts';

describe('create missing droplets', () => {
  interface Changes {
    readonly batchSize?: number;
    readonly concurrency?: number;
    readonly ahead?: number;
    readonly ending?: AbortSignal;
    readonly batch?: Partial<Batch>;
    readonly clock?: ReturnType<typeof instantClock>;
    /** What an earlier process left in the ledger. */
    readonly left?: readonly NewEvent[];
  }

  async function create(api: ScriptedApi, names: readonly string[], changes: Changes = {}) {
    const clock = changes.clock ?? instantClock();
    const ledger = await ledgerFor(batchOf(names, changes.batch), clock);
    for (const event of changes.left ?? []) await ledger.commit(event);
    const records: { readonly event: NewEvent; readonly durable: boolean }[] = [];
    const record: Ledger['record'] = (event) => {
      records.push({ event, durable: false });
      ledger.record(event);
    };
    const commit: Ledger['commit'] = (event) => {
      records.push({ event, durable: true });
      return ledger.commit(event);
    };
    const told: string[] = [];
    const run = testRun({ ...ledger, record, commit }, api, {
      clock,
      ...(changes.ending === undefined ? {} : { ending: changes.ending }),
    });
    const { stop: stopped } = await sendMissing(run, {
      timeout: 30_000,
      batchSize: changes.batchSize ?? 10,
      concurrency: changes.concurrency ?? 4,
      ...(changes.ahead === undefined ? {} : { ahead: changes.ahead }),
      onSettled: async (settled) => {
        told.push(...settled);
      },
    });
    return { stopped, told, results: [...ledger.state.rows()], clock, ledger, records };
  }

  function statuses(results: readonly Row[]): string {
    return results.map(({ status }) => status.charAt(0)).join('');
  }

  function lost(sent: boolean): Promise<never> {
    return Promise.reject(new CliError('unreachable', 'cut', { cause: new SendError('connection', sent, 'cut') }));
  }

  /** A list of droplets like those of the batch, created with it. */
  function listed(droplets: readonly { readonly id: number; readonly name: string }[], total?: number): ApiResponse {
    const whole = droplets.map((droplet) => ({ created_at: '2026-01-01T00:00:01Z', size_slug: 's', ...droplet }));
    return batchResponse(200, { droplets: whole, meta: { total: total ?? whole.length } });
  }

  function errorsOf(results: readonly Row[]): string {
    return results.flatMap((result) => ('error' in result ? [`${result.name}: ${result.error}`] : [])).join('\n');
  }

  describe('a batch', () => {
    it('gives a row for every name, in the order of the names, whatever the order of the answers', async () => {
      const api = apiOf(async (request, at) => {
        await new Promise((resolve) => setTimeout(resolve, at === 0 ? 1 : 0));
        return respondCreated(request);
      });
      const names = expandNames(['n{1..25}']);
      const { results, told } = await create(api, names);
      expect(results.map(({ name }) => name)).toEqual(names);
      expect(statuses(results)).toBe('c'.repeat(25));
      expect(new Set(told)).toEqual(new Set(names));
    });

    it('matches ids by name, not by place', async () => {
      const api = apiOf(() =>
        batchResponse(202, {
          droplets: [
            { id: '2', name: 'b' },
            { id: '1', name: 'a' },
          ],
          links: { actions: [{ id: '22' }, { id: '11' }] },
        }),
      );
      const { results } = await create(api, ['a', 'b']);
      expect(results).toEqual([
        { name: 'a', status: 'created', id: '1', action_id: '11' },
        { name: 'b', status: 'created', id: '2', action_id: '22' },
      ]);
    });

    it('believes no id that the answer gives to two names, and looks them up', async () => {
      const twice = [
        { id: 5, name: 'a' },
        { id: 5, name: 'b' },
        { id: 6, name: 'c' },
      ];
      const there = [
        { id: 4, name: 'a' },
        { id: 5, name: 'b' },
        { id: 6, name: 'c' },
      ];
      const api = apiOf(
        () => batchResponse(202, { droplets: twice }),
        () => listed(there),
      );
      const { results } = await create(api, ['a', 'b', 'c']);
      expect(results.map((row) => 'id' in row && row.id)).toEqual(['4', '5', '6']);
      expect(api.sent).toHaveLength(1);
    });

    it('names no action when it cannot tell whose it is', async () => {
      const droplets = [
        { id: '1', name: 'a' },
        { id: '2', name: 'b' },
      ];
      const api = apiOf(() => batchResponse(202, { droplets, links: { actions: [{ id: '22' }] } }));
      expect((await create(api, ['a', 'b'])).results).toEqual([
        { name: 'a', status: 'created', id: '1' },
        { name: 'b', status: 'created', id: '2' },
      ]);
    });

    it('has no more requests in flight than allowed', async () => {
      let flying = 0;
      let most = 0;
      const api = apiOf(async (request) => {
        most = Math.max(most, ++flying);
        await new Promise((resolve) => setTimeout(resolve, 1));
        flying -= 1;
        return respondCreated(request);
      });
      await create(api, expandNames(['n{1..12}']), { batchSize: 1, concurrency: 3 });
      expect(most).toBe(3);
    });

    it('lets a mistake of the program through', async () => {
      const api = apiOf(() => Promise.reject(new TypeError('bug')));
      await expect(create(api, ['a'])).rejects.toThrow(TypeError);
    });
  });

  describe('a group', () => {
    it('is recorded and synced before its request is sent, also when it is sent again', async () => {
      const busy = batchResponse(429, { id: 'too_many_requests', message: 'slow down' }, { retryAfter: 1 });
      const api = apiOf((request, at) => (at === 2 ? busy : respondCreated(request)));
      const { records } = await create(api, ['a', 'b', 'c', 'd'], { batchSize: 1, concurrency: 1 });
      const sendings = records.filter(({ event }) => event.event === 'sending');
      expect(sendings).toHaveLength(5);
      expect(sendings.every(({ durable }) => durable)).toBe(true);
    });

    it('is not recorded when the batch stops before it', async () => {
      const api = apiOf((_, at) =>
        batchResponse(at < 5 ? 202 : 403, at < 5 ? { droplets: [{ id: at + 1, name: `n${at + 1}` }] } : {}),
      );
      const { ledger, results } = await create(api, expandNames(['n{1..30}']), { batchSize: 1, concurrency: 1 });
      expect(ledger.state.uncertainGroups()).toEqual([]);
      expect(results.at(-1)).toEqual({ name: 'n30', status: 'failed', error: 'not sent' });
    });
  });

  describe('what an earlier process left in doubt', () => {
    it('is looked for all at once, before anything is sent', async () => {
      const names = expandNames(['n{1..100}']);
      const at = '2026-01-01T00:00:00.000Z';
      const left = names
        .slice(0, 60)
        .map((name, index): LedgerEvent => ({ event: 'sending', at, group: index + 1, names: [name] }));
      const there = listed(names.slice(0, 20).map((name, index) => ({ id: index + 1, name })));
      let reads = 0;
      const api = apiOf(
        (request) => {
          reads = Math.max(reads, api.read.length);
          return respondCreated(request);
        },
        async () => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          return there;
        },
      );
      const clock = { ...fastClock(), slept: [] };
      const began = clock.now();
      const { results } = await create(api, names, { left, batchSize: 1, concurrency: 1, clock });
      expect(statuses(results)).toBe('c'.repeat(100));
      expect(results[0]).toMatchObject({ id: '1' });
      expect(api.sent.map((request) => namesOf(request)[0])).toEqual(names.slice(20));
      // Two lookups serve all of those that are not there, and their waits are the same.
      expect(api.read).toHaveLength(reads);
      expect(reads).toBeLessThan(20);
      expect(clock.now() - began).toBeLessThan(10 * 30_000);
    });

    it('is unknown when the response gives several names the same id, and says so', async () => {
      const droplets = ['a', 'b'].map((name) => ({ id: 1000, name }));
      const api = apiOf(() => batchResponse(202, { droplets }));
      const { results } = await create(api, ['a', 'b']);
      for (const row of results) expectGolden('droplets', 'error' in row ? row.error : '', row.name);
    });

    it('stays unknown for the reason that was given, and says it once however often it is resumed', async () => {
      const at = '2026-01-01T00:00:00.000Z';
      const error = 'the droplets in the response have other names (web: 7)';
      const api = apiOf(respondCreated);
      const once = { event: 'unknown', at, group: 1, names: ['Web'], error, resend: false } as const;
      const [first] = (await create(api, ['Web'], { left: [once] })).results;
      const told = first !== undefined && 'error' in first ? first.error : '';
      expect(told.startsWith(`${error}; `)).toBe(true);
      const { results } = await create(api, ['Web'], { left: [once, { ...once, error: told }] });
      expect(results).toEqual([{ name: 'Web', status: 'unknown', error: told }]);
      expect(api.sent).toEqual([]);
    });
  });

  describe('a request in doubt', () => {
    const doubtful: readonly (readonly [string, () => ApiResponse | Promise<ApiResponse>])[] = [
      ['a 500', () => batchResponse(500, { message: 'oops' })],
      ['a 504', () => batchResponse(504, '')],
      ['a 408', () => batchResponse(408, '')],
      ['a 303', () => batchResponse(303, '')],
      ['a broken connection', () => lost(true)],
    ];
    const answered: typeof doubtful = [
      [
        'a success with an id that is not whole',
        () =>
          batchResponse(202, {
            droplets: [
              { id: 1.5, name: 'a' },
              { id: 5, name: 'b' },
            ],
          }),
      ],
      ['a web page for a success', () => batchResponse(202, '<html>', { contentType: () => 'text/html' })],
      ['a success without droplets', () => batchResponse(202, { links: {} })],
      ['a success without a body', () => batchResponse(204, '')],
    ];

    it.each([...doubtful, ...answered])(
      'after %s is not sent again when its droplets are found',
      async (_what, respond) => {
        const found = listed([
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ]);
        const api = apiOf(respond, () => found);
        const { results } = await create(api, ['a', 'b']);
        expect(results).toEqual([
          { name: 'a', status: 'created', id: '1' },
          { name: 'b', status: 'created', id: '2' },
        ]);
        expect(api.sent).toHaveLength(1);
      },
    );

    it.each([
      ['at once', 0],
      ['late', 60_000],
    ])(
      'is not sent again when the answer, %s, does not fit its names: the server has its own way to write them',
      async (_when, ms) => {
        const clock = { ...fastClock(), slept: [] };
        const api = apiOf(async () => {
          await clock.sleep(ms);
          return batchResponse(202, { droplet: { id: '7', name: 'web' } });
        });
        const { results, ledger } = await create(api, ['Web'], { clock });
        expect(results).toMatchObject([{ name: 'Web', status: 'unknown', error: expect.stringContaining('(web: 7)') }]);
        expect(api.sent).toHaveLength(1);
        expect(ledger.state.uncertainGroups()).toMatchObject([{ resend: false }]);
      },
    );

    it.each([307, 308])('is none after a %i, which leaves it undone', async (status) => {
      const api = apiOf(() => batchResponse(status, ''));
      const { results } = await create(api, ['a', 'b']);
      expect(results).toMatchObject(
        ['a', 'b'].map((name) => ({
          name,
          status: 'failed',
          error: expect.stringContaining(`(${status})`),
        })),
      );
      expect([api.sent.length, api.read.length]).toEqual([1, 0]);
    });

    it('is not sent again, nor adopted, when droplets of its names are there that were not before and are older than it', async () => {
      const old = [
        { id: 1, name: 'a', created_at: '2025-12-31T22:00:01Z' },
        { id: 2, name: 'b', created_at: '2025-12-31T22:00:01Z' },
      ];
      const api = apiOf(
        (request, at) => (at === 0 ? respondCreated(request) : lost(true)),
        () => listed(old),
      );
      const { results } = await create(api, ['x', 'a', 'b'], { batchSize: 1, concurrency: 1 });
      expect(results[0]).toMatchObject({ status: 'created' });
      expect(results.slice(1)).toMatchObject([
        { status: 'unknown', error: expect.stringMatching(/\(a: 1\)$/) },
        { status: 'unknown', error: expect.stringMatching(/\(b: 2\)$/) },
      ]);
      expect(api.sent).toHaveLength(3);
    });

    it.each(doubtful)('after %s is sent again once two late lookups found nothing', async (_what, respond) => {
      const api = apiOf((request, at) => (at === 0 ? respond() : respondCreated(request)));
      const { results, clock } = await create(api, ['a', 'b']);
      expect(statuses(results)).toBe('cc');
      expect(api.sent).toHaveLength(2);
      expect(clock.slept.filter((ms) => ms === defaultTimeLimits.settleDelay)).not.toEqual([]);
    });

    it('is sent three times at most, and then unknown', async () => {
      const api = apiOf(() => lost(true));
      const { results } = await create(api, ['a']);
      expect(results).toEqual([{ name: 'a', status: 'unknown', error: expect.stringMatching(/^cut; .*\b3\b/) }]);
      expectGolden('droplets', errorsOf(results));
      expect(api.sent).toHaveLength(3);
    });

    it.each(answered)('after %s is never sent again by the same run', async (_what, respond) => {
      const api = apiOf(respond);
      const { results, ledger } = await create(api, ['a', 'b']);
      expect(statuses(results)).toBe('uu');
      expect(api.sent).toHaveLength(1);
      // A later run may send it, after its own lookups: a login portal would block the batch for ever.
      expect(ledger.state.uncertainGroups()).toMatchObject([{ resend: true }]);
      expectGolden('droplets', errorsOf(results));
    });

    it.each([
      [40, 'cc'],
      [100, 'uu'],
    ])('after a web page for a success is not created twice with lists that lag %i s', async (lag, expected) => {
      const clock = { ...fastClock(), slept: [] };
      const made: { readonly id: number; readonly name: string; readonly at: number }[] = [];
      const api = apiOf(
        (request) => {
          for (const name of namesOf(request)) made.push({ id: made.length + 1, name, at: clock.now() });
          return batchResponse(202, '<html>');
        },
        () => listed(made.filter(({ at }) => clock.now() >= at + lag * 1_000)),
      );
      const { results } = await create(api, ['a', 'b'], { clock });
      expect(made).toHaveLength(2);
      expect(statuses(results)).toBe(expected);
    });

    it('is never sent again when some of its names are there', async () => {
      const api = apiOf(
        () => lost(true),
        () => listed([{ id: 1, name: 'a' }]),
      );
      const { results } = await create(api, ['a', 'b']);
      expect(statuses(results)).toBe('cu');
      expect(api.sent).toHaveLength(1);
    });

    it('is never guessed about when two droplets have the name', async () => {
      const both = listed([
        { id: 1, name: 'a' },
        { id: 2, name: 'a' },
      ]);
      const api = apiOf(
        () => lost(true),
        () => both,
      );
      const { results } = await create(api, ['a']);
      expect(results[0]).toMatchObject({ status: 'unknown', error: expect.stringContaining('a: 1, 2') });
      expect(api.sent).toHaveLength(1);
    });

    it('is decided by the answer that comes late, and not sent again while it may come', async () => {
      let give: (got: ApiResponse) => void = () => {};
      let reads = 0;
      const api = apiOf(
        () =>
          new Promise((resolve) => {
            give = resolve;
          }),
        () => {
          reads += 1;
          if (reads === 5) give(batchResponse(202, { droplets: [{ id: '9', name: 'a' }] }));
          return listed([]);
        },
      );
      const { results } = await create(api, ['a']);
      expect(results).toEqual([{ name: 'a', status: 'created', id: '9' }]);
      expect(api.sent).toHaveLength(1);
      expect(reads).toBe(5);
    });

    it('about names the answer leaves out is looked up, and not sent again', async () => {
      const api = apiOf(() => batchResponse(202, { droplets: [{ id: '1', name: 'a' }] }));
      const { results } = await create(api, ['a', 'b']);
      expect(statuses(results)).toBe('cu');
      expect(api.sent).toHaveLength(1);
    });

    it('is undecided after three lookups that could not be made', async () => {
      const api = apiOf(
        () => lost(true),
        () => batchResponse(503),
      );
      const { results } = await create(api, ['a']);
      expect(results[0]).toMatchObject({ status: 'unknown' });
      expectGolden('droplets', errorsOf(results));
      expect(api.sent).toHaveLength(1);
      expect(api.read).toHaveLength(3);
    });

    it('with --batch-id is decided by the tag alone', async () => {
      const marked = listed([
        { id: 1, name: 'a' },
        Object.assign(
          { id: 2, name: 'a' },
          { tags: ['cloudctl:b1', 'cloudctl:b1:c0ffee000000'], size_slug: 'other', created_at: '1999-01-01T00:00:00Z' },
        ),
      ]);
      const api = apiOf(
        () => lost(true),
        () => marked,
      );
      const { results } = await create(api, ['a'], { batch: { content_hash: 'c0ffee000000' } });
      expect(results).toEqual([{ name: 'a', status: 'created', id: '2' }]);
    });
  });

  it('that the server has answered with a success is not sent by a further try of the same run', async () => {
    const api = apiOf(() => batchResponse(202, {}));
    const ledger = await ledgerFor(batchOf(['a']));
    const run = testRun(ledger, api);
    const options = { batchSize: 1, concurrency: 1, timeout: 30_000, onLate: () => {}, onSettled: async () => {} };
    await ledger.commit({ event: 'baseline', existing: {} });
    for (let attempt = 0; attempt < 3; attempt++) await sendMissing(run, options);
    expect(api.sent).toHaveLength(1);
    expect([...ledger.state.rows()]).toMatchObject([{ name: 'a', status: 'unknown' }]);
    // A later run may, after lookups of its own.
    await sendMissing(testRun(ledger, api), options);
    expect(api.sent).toHaveLength(2);
  });

  describe('a request that was certainly not processed', () => {
    it('is sent again after a 429, when the server said so', async () => {
      const api = apiOf((request, at) =>
        at === 0 ? batchResponse(429, {}, { retryAfter: 7 }) : respondCreated(request),
      );
      const { results, clock } = await create(api, ['a']);
      expect(statuses(results)).toBe('c');
      expect(clock.slept).toContain(7_000);
      expect(api.read).toHaveLength(0);
    });

    it('stops the batch when nobody can be reached', async () => {
      const api = apiOf(() => lost(false));
      const { results, stopped } = await create(api, ['a', 'b'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('ff');
      expect(stopped).toMatchObject({ exitCode: 6 });
      expect(api.sent).toHaveLength(1);
    });

    it('fails with the words of the server, and the batch goes on', async () => {
      const api = apiOf((request, at) =>
        at === 0 ? batchResponse(422, { id: 'x', message: 'no such size' }) : respondCreated(request),
      );
      const { results, stopped } = await create(api, ['a', 'b', 'c'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('fcc');
      expect(results[0]).toMatchObject({ error: 'no such size' });
      expect(stopped).toBeUndefined();
    });

    it.each([
      ['a 403', batchResponse(403, { id: 'forbidden' }), 'scope_too_small'],
      ['the limit of droplets', batchResponse(422, { id: 'droplet_limit', message: 'too many' }), 'api_error'],
    ])('stops the batch after %s, and the names after it are not sent', async (_what, refusal, code) => {
      const api = apiOf((request, at) => (at === 1 ? refusal : respondCreated(request)));
      const { results, stopped } = await create(api, ['a', 'b', 'c', 'd'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('cfff');
      expect(stopped).toMatchObject({ code });
      expect(api.sent).toHaveLength(2);
    });

    it('stops the batch when the session has ended', async () => {
      const api = apiOf(() => Promise.reject(new CliError('needs_login', 'ended')));
      const { results, stopped } = await create(api, ['a', 'b'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('ff');
      expect(stopped).toMatchObject({ code: 'needs_login', exitCode: 4 });
      expect(api.sent).toHaveLength(1);
    });
  });

  describe('the rate limit', () => {
    const limit = (remaining: number, inSeconds: number) => ({
      limit: { remaining, reset: Date.parse('2026-01-01T00:00:00Z') / 1000 + inSeconds },
    });

    it('is kept before it is hit', async () => {
      const api = apiOf((request, at) => ({
        ...respondCreated(request),
        ...(at === 0 ? limit(0, 50) : limit(99, 50)),
      }));
      const { results, clock } = await create(api, ['a', 'b', 'c'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('ccc');
      expect(clock.slept).toContain(50_000);
    });

    it('ends the run with exit 5 when the wait would be longer than a quarter of an hour', async () => {
      const api = apiOf((request) => ({ ...respondCreated(request), ...limit(0, 901) }));
      const { results, stopped } = await create(api, ['a', 'b'], { batchSize: 1, concurrency: 1 });
      expect(statuses(results)).toBe('cf');
      expect(stopped).toMatchObject({ code: 'rate_limited', exitCode: 5 });
      expect(api.sent).toHaveLength(1);
    });
  });

  describe('an interruption', () => {
    it('sends no new group, and takes the answers of those in flight', async () => {
      const ending = new AbortController();
      const api = apiOf((request) => {
        ending.abort();
        return respondCreated(request);
      });
      const names = ['a', 'b', 'c'];
      const { results } = await create(api, names, { batchSize: 1, concurrency: 1, ending: ending.signal });
      expect(statuses(results)).toBe('cff');
      expect(api.sent.flatMap(namesOf)).toEqual(['a']);
    });

    it('leaves a doubt to the next run', async () => {
      const ending = new AbortController();
      const api = apiOf((): Promise<ApiResponse> => {
        ending.abort();
        return lost(true);
      });
      const { results, ledger } = await create(api, ['a'], { ending: ending.signal });
      expect(statuses(results)).toBe('u');
      expect(ledger.state.uncertainGroups()).toMatchObject([{ names: ['a'], resend: true }]);
      expect(api.read.map(({ path }: ApiRequest) => path)).toEqual([]);
    });
  });
});

describe('late response detector', () => {
  /** A request whose answer comes when the test says so. */
  function sent(overdue: LateResponses): {
    readonly told: Promise<string | undefined>;
    readonly come: () => void;
  } {
    let come = (): void => {};
    const answer = new Promise<string>((resolve) => {
      come = () => resolve('the answer');
    });
    return { told: overdue.withinLimit(answer), come };
  }

  describe('an answer', () => {
    it('is overdue when its time is over, each by its own', async () => {
      const clock = fastClock(100);
      const overdue = detectLateResponses(clock, 10_000, new AbortController().signal);
      const first = sent(overdue);
      await clock.sleep(5_000);
      const begun = clock.now();
      const second = sent(overdue);
      expect(await first.told).toBeUndefined();
      expect(await second.told).toBeUndefined();
      expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000);
      overdue.close();
    });

    it('that came is never overdue, and those after it still are', async () => {
      const overdue = detectLateResponses(fastClock(100), 3_000, new AbortController().signal);
      const [first, second] = [sent(overdue), sent(overdue)];
      first.come();
      expect(await second.told).toBeUndefined();
      expect(await first.told).toBe('the answer');
      overdue.close();
    });

    it('that failed in time is a failure, one that fails later is overdue', async () => {
      const overdue = detectLateResponses(fastClock(100), 3_000, new AbortController().signal);
      await expect(overdue.withinLimit(Promise.reject(new Error('cut')))).rejects.toThrow('cut');
      let cut = (): void => {};
      const late = new Promise((_, reject) => {
        cut = () => reject(new Error('cut'));
      });
      expect(await overdue.withinLimit(late)).toBeUndefined();
      cut();
      await expect(late).rejects.toThrow('cut');
      overdue.close();
    });

    it('is not awaited any longer once all has ended', async () => {
      const ended = new AbortController();
      const overdue = detectLateResponses(fastClock(1), 60_000, ended.signal);
      const before = sent(overdue);
      ended.abort();
      expect(await before.told).toBeUndefined();
      expect(await sent(overdue).told).toBeUndefined();
      overdue.close();
    });

    it('is told of again after all others came', async () => {
      const overdue = detectLateResponses(fastClock(100), 2_000, new AbortController().signal);
      sent(overdue).come();
      await new Promise((resolve) => setTimeout(resolve, 40));
      expect(await sent(overdue).told).toBeUndefined();
      overdue.close();
    });
  });
});
