import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { watchLimits } from '../../../src/db/watch/limits.ts';
import { pathOfRecord, readRecord, type WatchRecord, writeRecord } from '../../../src/db/watch/record.ts';
import type { StopCause } from '../../../src/db/watch/sample.ts';
import { type pollSource, sourceAddress } from '../../../src/db/watch/source.ts';
import { type WatchOptions, watchMigration } from '../../../src/db/watch/watch.ts';
import type { PollResult } from '../../../src/db/watch/watcher.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { makeDatabaseSample, makeStatusSample } from './view/status-samples.ts';

const source: DbSource = {
  engine: 'redis',
  source: {
    ...{ host: 'redis.example.com', port: 6379, username: 'mover', password: new Secret('hunter2'), db: undefined },
    ssl: 'disable',
  },
};

/** Polls with these results, then waits for a signal. `taken` is how many the watch took. */
function polling(results: readonly PollResult[]): {
  watch: typeof pollSource;
  taken(): number;
} {
  let taken = 0;
  return {
    taken: () => taken,
    async *watch(_source, _interval, { signal }) {
      for (const result of results) {
        taken += 1;
        yield result;
        if (result.ending !== undefined) return;
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
}

function poll(more: Partial<PollResult> = {}): PollResult {
  return { sample: makeStatusSample(), idlePolls: 0, caughtUpPolls: 0, reached: true, activeSlots: [], ...more };
}

function follow(host: TestHost, watch: typeof pollSource, more: Partial<WatchOptions> = {}) {
  const command = (...words: readonly string[]) => ['cloudctl', ...words].join(' ');
  const options = {
    command,
    interval: 1000,
    untilIdle: false,
    ignoreDbs: [],
    slots: [],
    showQueries: false,
    caFile: undefined,
  };
  return watchMigration(commandIo(host, 'ndjson'), { source, ...options, ...more }, watch);
}

const recordPath = (host: TestHost) => pathOfRecord(host.folders.state, sourceAddress(source));
const idle = poll({ caughtUpPolls: watchLimits.idlePolls });
const unreachable = poll({ reached: false, outage: 'ECONNREFUSED' });
const ended = poll({ ending: { message: 'the slot s1 was dropped', hint: 'start the migration again' } });

describe('the status at the service', () => {
  const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
  const started = { at: Date.parse('2026-01-01T00:00:00Z'), cluster, id: 'm', identity: {} };
  const record = { engine: 'redis', source: 'redis.example.com:6379', started } as const;
  const failed = {
    status: 'error',
    raw: { status: 'error', databases: [{ name: 'shop', reason: 'gone' }] },
  };
  const waiting = poll({ sample: makeStatusSample({ phase: 'waiting', violations: [] }) });

  it('comes before what the source shows, and ends a watch that would wait for nothing', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const asked: string[] = [];
    const fetchStatus = async (start: { readonly cluster: string }) => {
      asked.push(start.cluster);
      return failed;
    };
    const { watch } = polling(Array.from({ length: 6 }, () => waiting));
    await expect(follow(host, watch, { untilIdle: true, fetchStatus })).rejects.toMatchObject({
      code: 'api_error',
      exitCode: 1,
      detail: expect.stringContaining('shop'),
    });
    expect(asked).toEqual([cluster]);
    const last = JSON.parse(host.out().trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ server_status: 'error', violations: [{ rule: 'server-status' }] });
  });

  it('ends the watch with the failed database, although others are copied', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const databases = [
      { name: 'shop', phase: 'copying' },
      { name: 'crm', phase: 'error', error: 'E_REASON' },
    ];
    const fetchStatus = async () => ({ status: 'running', raw: { databases } });
    const copying = poll({ sample: makeStatusSample({ phase: 'copying', violations: [] }) });
    const polls = Array.from({ length: 4 }, () => copying);
    await expect(follow(host, polling(polls).watch, { untilIdle: true, fetchStatus })).rejects.toMatchObject({
      ...{ code: 'api_error', exitCode: 1, detail: 'crm: E_REASON' },
      hint: expect.stringContaining(`cloudctl db stop ${cluster}`),
    });
    const last = JSON.parse(host.out().trim().split('\n').at(-1) ?? '');
    expect(last.violations).toMatchObject([{ rule: 'server-status', observed: expect.stringContaining('crm') }]);
    // It is ignored with its database.
    const { watch } = polling([copying, copying, idle]);
    expect(await follow(host, watch, { untilIdle: true, ignoreDbs: ['crm'], fetchStatus })).toBe(0);
  });

  it('is read with its warnings, each printed once', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const raw = {
      status: 'syncing',
      warnings: ['role\u001b[31m r'],
      databases: [{ name: 'shop', warnings: ['no view v'] }],
    };
    const fetchStatus = async () => ({ status: 'syncing', raw });
    const { watch } = polling([waiting, waiting, waiting, idle]);
    expect(await follow(host, watch, { untilIdle: true, fetchStatus })).toBe(0);
    expect(host.err().match(/^warning: .*$/gm)).toEqual([
      expect.stringMatching(/^warning: role[^\u001b]* r$/),
      'warning: shop: no view v',
    ]);
  });

  it('is shown with the warnings that it has now, on a terminal', async () => {
    const host = testHost({ terminal: 80 });
    writeRecord(recordPath(host), record);
    let now = 0;
    const clock = { ...host.clock, now: () => (now += 20_000) };
    const states = [['E_RETRY'], ['E_RETRY'], []];
    const fetchStatus = async () => ({ status: 'syncing', raw: { warnings: states.shift() ?? [] } });
    const io = commandIo({ ...host, clock });
    const options = { source, interval: 1000, untilIdle: true, ignoreDbs: [], slots: [], caFile: undefined };
    const command = () => '';
    const { watch } = polling([waiting, waiting, waiting, waiting, waiting, idle]);
    expect(await watchMigration(io, { ...options, command, showQueries: false, fetchStatus }, watch)).toBe(0);
    expect(host.out()).toContain('E_RETRY');
    expect(host.err()).not.toContain('E_RETRY');
  });

  it('is a note when the service cannot be asked, and does not end the watch', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const fetchStatus = () => Promise.reject(new CliError('not_logged_in', 'no session'));
    const { watch } = polling([waiting, waiting, waiting, idle]);
    expect(await follow(host, watch, { untilIdle: true, fetchStatus })).toBe(0);
    expect(host.out()).toContain('no session');
  });

  it.each([
    ['failed', { id: 'm', status: 'error' }, { code: 'api_error', exitCode: 1 }],
    ['ended', { id: 'm', status: 'canceled' }, { code: 'not_found', exitCode: 1 }],
    ['is not there', undefined, { code: 'not_proven', exitCode: 5 }],
    ['was replaced', { id: 'other', status: 'syncing' }, { code: 'not_proven', exitCode: 5 }],
  ])('of a migration that %s keeps a target that is idle from having caught up', async (_what, shown, expected) => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const fetchStatus = async () => (shown === undefined ? undefined : { ...shown, raw: shown });
    const { watch } = polling([poll(), idle, idle, idle]);
    await expect(follow(host, watch, { untilIdle: true, fetchStatus })).rejects.toMatchObject(expected);
    expect(host.err()).not.toContain('db cutover');
  });

  it.each([true, false])('of a migration that was stopped ends the watch: --until-idle %s', async (untilIdle) => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const fetchStatus = async () => ({ id: 'm', status: 'canceled', raw: { status: 'canceled' } });
    const cause: StopCause = {
      ...{ rule: 'target-disconnected', observed: 'E', hint: 'E', object: 's', basis: 'group' },
      fix: { run_on: 'target', statement: 'SELECT 1;' },
    };
    const left = poll({ sample: makeStatusSample({ phase: 'stalled', cause, violations: [cause] }) });
    const { watch } = polling([left, left, left]);
    const command = (...words: readonly string[]) => [...words, '--profile', 'work'].join(' ');
    await expect(follow(host, watch, { untilIdle, fetchStatus, command })).rejects.toMatchObject({
      ...{ code: 'not_found', exitCode: 1 },
      hint: expect.stringContaining(`db stop ${cluster} --source redis://mover@redis.example.com:6379 --profile work`),
    });
  });

  it('of a link that is down is waited for', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const phases = ['link_down', 'streaming'];
    let now = 0;
    const clock = { ...host.clock, now: () => (now += 20_000) };
    const fetchStatus = async () => {
      const phase = phases.shift() ?? 'streaming';
      return { id: 'm', status: 'syncing', raw: { databases: [{ name: 'all', phase }] } };
    };
    const { watch, taken } = polling([idle, idle, idle]);
    expect(await follow({ ...host, clock }, watch, { untilIdle: true, fetchStatus })).toBe(0);
    expect(taken()).toBeGreaterThan(1);
  });

  it('is needed for a target that is only inferred, and its silence is not', async () => {
    const inferred = { grade: 'inferred', by: 'being the only new replica since the start' } as const;
    const sample = makeStatusSample({
      identified_by: inferred,
      databases: [makeDatabaseSample({ identified_by: inferred })],
    });
    const only = poll({ sample, caughtUpPolls: watchLimits.idlePolls });
    type FetchStatus = NonNullable<WatchOptions['fetchStatus']>;
    const run = async (slots: NonNullable<WatchRecord['slots']>, fetchStatus: FetchStatus) => {
      const host = testHost();
      writeRecord(recordPath(host), { ...record, slots });
      return follow(host, polling([only]).watch, { untilIdle: true, fetchStatus });
    };
    const refused = () => Promise.reject(new CliError('api_error', 'internal error'));
    await expect(run([], refused)).rejects.toMatchObject({ code: 'not_proven', exitCode: 5 });
    expect(await run([{ name: 's', database: 'shop', ...inferred }], refused)).toBe(0);
    expect(await run([], async () => ({ id: 'm', status: 'syncing', raw: {} }))).toBe(0);
  });

  it('is awaited before the first status, which would call the replica assumed', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const identity = { grade: 'inferred', by: 'being the only new replica since the start' } as const;
    const sample = makeStatusSample({
      identified_by: identity,
      databases: [makeDatabaseSample({ identified_by: identity, slot: '10.0.0.9:6379' })],
    });
    const { watch } = polling([poll({ sample }), poll({ sample, caughtUpPolls: watchLimits.idlePolls })]);
    const fetchStatus = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { id: 'm', status: 'syncing', raw: {} };
    };
    const clock = { ...host.clock, sleep: systemClock.sleep };
    await follow({ ...host, clock }, watch, { untilIdle: true, fetchStatus });
    expect(host.out()).toContain('inferred');
    expect(host.out()).not.toContain('assumed');
  });

  it('is no longer requested when the watch has ended', async () => {
    const host = testHost();
    writeRecord(recordPath(host), record);
    const signals: AbortSignal[] = [];
    const fetchStatus = (_start: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<never>(() => {});
    };
    expect(await follow(host, polling([waiting, idle]).watch, { untilIdle: true, fetchStatus })).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('is not asked for a migration that this machine did not start', async () => {
    const host = testHost();
    const fetchStatus = () => Promise.reject(new Error('asked'));
    expect(await follow(host, polling([waiting, idle]).watch, { untilIdle: true, fetchStatus })).toBe(0);
    expect(host.out()).not.toContain('server_status');
  });
});

describe('the watch ends', () => {
  it('with the command for the cut-over when the cluster is known', async () => {
    const host = testHost();
    const started = { at: Date.now(), cluster: '3b643ad7-65aa-4066-b45b-1c64b6db600a', id: 'm', identity: {} };
    writeRecord(recordPath(host), { engine: 'redis', source: 'redis.example.com:6379', started });
    expect(await follow(host, polling([idle]).watch, { untilIdle: true })).toBe(0);
    expect(host.err()).toContain(
      `cloudctl db cutover ${started.cluster} --source redis://mover@redis.example.com:6379`,
    );
    expect(host.err()).not.toContain('hunter2');
  });

  it('with the warning of the preflight that concerns the source until the end', async () => {
    const host = testHost();
    writeRecord(recordPath(host), { engine: 'redis', source: 'redis.example.com:6379', warned: ['replica-identity'] });
    expect(await follow(host, polling([idle]).watch, { untilIdle: true })).toBe(0);
    expect(host.err()).toContain('replica-identity');
  });

  it('with an error when the source was never reached', async () => {
    const { watch, taken } = polling([unreachable, poll()]);
    await expect(follow(testHost(), watch)).rejects.toMatchObject({ code: 'source_unreachable', exitCode: 3 });
    expect(taken()).toBe(1);
  });

  it('not when the source is lost after it was reached', async () => {
    const host = testHost();
    const { watch } = polling([poll(), unreachable, idle]);
    expect(await follow(host, watch, { untilIdle: true })).toBe(0);
    expect(host.out().trim().split('\n')).toHaveLength(3);
  });

  it('not when an earlier watch reached the source', async () => {
    const host = testHost();
    writeRecord(recordPath(host), { engine: 'redis', source: 'redis.example.com:6379' });
    expect(await follow(host, polling([unreachable, idle]).watch, { untilIdle: true })).toBe(0);
  });

  it('when --slot names nothing that exists, and says what does', async () => {
    const host = testHost();
    const seen = poll({ consumers: ['s1', 's2'] });
    await expect(follow(host, polling([seen, idle]).watch, { slots: ['s1', 'typo'] })).rejects.toMatchObject({
      ...{ code: 'not_found', detail: expect.stringContaining('s1, s2') },
      message: expect.stringContaining('typo'),
    });
    expect(await follow(host, polling([seen, idle]).watch, { untilIdle: true, slots: ['s1'] })).toBe(0);
    // One that an earlier watch saw was dropped, and one of a new migration is still to come.
    expect(await follow(host, polling([seen, idle]).watch, { untilIdle: true, slots: ['s9'], isNew: true })).toBe(0);
    const slots = [{ name: 's9', database: '' }];
    writeRecord(recordPath(host), { engine: 'redis', source: 'redis.example.com:6379', slots });
    expect(await follow(host, polling([seen, idle]).watch, { untilIdle: true, slots: ['s9'] })).toBe(0);
  });

  it.each([
    [{}, ' --target TARGET_URL'],
    [{ CLOUDCTL_TARGET: 'rediss://cluster.example.com' }, ''],
  ])('with a cut-over that names a target that is not known: %j', async (env, words) => {
    const host = testHost({ env });
    expect(await follow(host, polling([idle]).watch, { untilIdle: true })).toBe(0);
    expect(host.err()).toContain(`--source redis://mover@redis.example.com:6379${words}\n`);
    expect(/--target (\S+)/.exec(host.err())?.[1]).toBe(words === '' ? undefined : 'TARGET_URL');
  });

  it('when its first login is refused, whatever an earlier watch saw, and blames no migration', async () => {
    const host = testHost();
    writeRecord(recordPath(host), { engine: 'redis', source: 'redis.example.com:6379' });
    const violations = [{ rule: 'login-refused', observed: 'E_REFUSED', hint: 'E_BLAME' }];
    const sample = makeStatusSample({ phase: 'stalled', violations });
    const refused = poll({ sample, reached: false, outage: 'WRONGPASS', outageCode: 'WRONGPASS' });
    const { watch, taken } = polling([refused, idle]);
    await expect(follow(host, watch, { untilIdle: true })).rejects.toMatchObject({
      ...{ code: 'source_unreachable', exitCode: 3 },
      hint: expect.stringMatching(/REDISCLI_AUTH.*db preflight/),
    });
    expect([taken(), host.out()]).toEqual([1, '']);
    // After a login that worked it can be the password that was changed.
    expect(await follow(host, polling([poll(), refused, idle]).watch, { untilIdle: true })).toBe(0);
  });

  it('when the target has caught up, if that was requested', async () => {
    const host = testHost();
    const { watch, taken } = polling([poll(), idle, poll()]);
    expect(await follow(host, watch, { untilIdle: true })).toBe(0);
    expect(taken()).toBe(2);
    expect(host.err()).not.toBe('');
  });

  it('with the reason when the migration cannot continue', async () => {
    const { watch } = polling([poll(), ended]);
    await expect(follow(testHost(), watch)).rejects.toMatchObject({ code: 'not_found', ...ended.ending });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s with exit code %i, and shows the command to continue without the password', async (name, exit) => {
    const host = testHost();
    const watching = follow(host, polling([idle]).watch, { slots: ['10.0.0.9:6379'], caFile: '/etc/my ca.pem' });
    await expect.poll(() => host.out()).not.toBe('');
    expect(host.signal(name)).toBe(1);
    const error: unknown = await watching.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'cancelled', exitCode: exit });
    const hint = (error as { readonly hint: string }).hint;
    for (const part of ['redis.example.com', '--slot 10.0.0.9:6379', "'/etc/my ca.pem'"]) expect(hint).toContain(part);
    expect(hint).not.toContain('hunter2');
    expect(hint).not.toContain('--until-idle');
    expect(hint).toContain('db cutover');
    expect(host.signal(name)).toBe(0);
  });

  it('on a signal while nothing is replicated, the error repeats the cause and the statement that helps', async () => {
    const host = testHost();
    const cause: StopCause = {
      ...{ rule: 'column-added', observed: 'public.orders.note was added', hint: 'E_HINT' },
      ...{ object: 'public.orders.note', basis: 'changed' },
      fix: { run_on: 'target', statement: 'ALTER TABLE "public"."orders" ADD COLUMN "note" text;' },
    };
    const stalled = poll({ sample: makeStatusSample({ phase: 'stalled', cause, violations: [cause] }) });
    const watching = follow(host, polling([stalled]).watch, {});
    await expect.poll(() => host.out()).not.toBe('');
    host.signal('SIGTERM');
    await expect(watching).rejects.toMatchObject({
      exitCode: 143,
      detail: `column-added: ${cause.observed}`,
      hint: expect.stringMatching(/^E_HINT.*ALTER TABLE "public"\."orders" .*; then .*watch again/s),
    });
  });
});

describe('the record of the migration', () => {
  const slot = (name: string, database = '') => ({ name, database });

  it('holds the slots of every poll, and when the first was seen', async () => {
    const host = testHost();
    const at = '2026-11-20T12:00:00.000Z';
    const later = makeStatusSample({ at: '2026-11-20T12:00:09.000Z' });
    const polls = [
      poll({ sample: makeStatusSample({ at }), activeSlots: [slot('s1', 'd1')] }),
      poll({ sample: later, activeSlots: [slot('s1', 'd1'), slot('s2', 'd2')] }),
    ];
    await follow(host, polling([...polls, idle]).watch, { untilIdle: true });
    const record = readRecord(recordPath(host));
    expect(record).toMatchObject({ engine: 'redis', source: 'redis.example.com:6379', firstSeen: Date.parse(at) });
    expect(record?.slots?.map(({ name }) => name).sort()).toEqual(['s1', 's2']);
  });

  it('replaces the slot of a database that has a new one', async () => {
    const host = testHost();
    const polls = [poll({ activeSlots: [slot('s1', 'd1')] }), poll({ activeSlots: [slot('s2', 'd1')] }), idle];
    await follow(host, polling(polls).watch, { untilIdle: true });
    expect(readRecord(recordPath(host))?.slots).toEqual([slot('s2', 'd1')]);
  });

  it('holds no slots after the migration has ended, and keeps the rest', async () => {
    const host = testHost();
    const polls = [poll({ activeSlots: [slot('s1')] }), ended];
    writeRecord(recordPath(host), {
      engine: 'redis',
      source: 'redis.example.com:6379',
      warned: ['wal-level'],
    });
    await follow(host, polling(polls).watch).catch(() => {});
    const record = readRecord(recordPath(host));
    expect(record).toMatchObject({ warned: ['wal-level'] });
    expect([record?.slots, record?.firstSeen]).toEqual([undefined, undefined]);
  });

  it('that cannot be written does not end the watch', async () => {
    const host = testHost();
    // A file where the folder would be.
    writeFileSync(join(host.place.work, 'state'), '');
    const blocked = { ...host, folders: { ...host.folders, state: join(host.place.work, 'state') } };
    const polls = [poll({ activeSlots: [slot('s1')] }), idle];
    expect(await follow(blocked, polling(polls).watch, { untilIdle: true })).toBe(0);
  });
});

it('a source is identified by engine, address and database', () => {
  expect(sourceAddress(source)).toEqual({ engine: 'redis', host: 'redis.example.com', port: 6379 });
  const address = { host: 'h', port: 5432, dbname: 'shop' };
  const postgres = { ...address, username: 'u', password: undefined, ssl: 'require' } as const;
  expect(sourceAddress({ engine: 'postgresql', source: postgres })).toEqual({
    engine: 'postgresql',
    ...address,
  });
});
