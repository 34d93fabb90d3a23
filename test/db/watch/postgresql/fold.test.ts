import { expect, it } from 'vitest';
import { formatIdentity } from '../../../../src/db/watch/identity.ts';
import { watchLimits } from '../../../../src/db/watch/limits.ts';
import type { PostgresPoll, ServerFacts, SlotFacts } from '../../../../src/db/watch/postgresql/facts.ts';
import { type FoldOptions, foldPostgresPoll, listDenied, pollNotes } from '../../../../src/db/watch/postgresql/fold.ts';
import {
  createDatabaseState,
  createPostgresState,
  type EarlierSlots,
} from '../../../../src/db/watch/postgresql/state.ts';
import { knownStart } from '../../../../src/db/watch/record.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { makeDatabaseFacts, makeServerFacts, makeSlot, makeTable, makeWalSender } from './make-facts.ts';

const nothing: EarlierSlots = { slots: [], firstSeen: undefined };
const tracking: FoldOptions = {
  limits: watchLimits,
  ignoreDbs: [],
  hints: { named: [] },
  preflightWarnings: [],
  cluster: undefined,
  startedAt: undefined,
  baseline: undefined,
  role: 'mover',
  migrationStart: (firstSeen) => knownStart({ firstSeen }, 0),
};
const look = (server: Partial<ServerFacts>, database = makeDatabaseFacts()): PostgresPoll => ({
  kind: 'seen',
  server: makeServerFacts(server),
  databases: new Map([[database.name, database]]),
});
const outage = (at: number): PostgresPoll => ({
  kind: 'outage',
  outage: { at, code: 'ECONNREFUSED', reason: 'refused' },
});

/** Look after look. */
function all(looks: readonly PostgresPoll[], { remembered = nothing, more = {} as Partial<FoldOptions> } = {}) {
  let memory = createPostgresState(remembered, undefined);
  return looks.map((one) => {
    const step = foldPostgresPoll(memory, one, { ...tracking, ...more });
    memory = step.state;
    return step;
  });
}

const begin = look({ at: 0, slots: [], senders: [] });
const copying = (at: number, rows: number) =>
  look({
    at,
    senders: [makeWalSender(), makeWalSender({ pid: 9, application: 'pg_1_sync_2_3', state: 'startup' })],
    copies: [{ pid: 9, database: 'shop', table: 1, rows, bytes: 0, dump: false }],
  });

it('the time a copy takes follows from its pace', () => {
  const [, , last] = all([begin, copying(1000, 10), copying(2000, 20)]);
  expect(last?.sample).toMatchObject({ phase: 'copying', bytes_done: 200, bytes_total: 1000, percent: 18 });
  expect(last?.sample.eta_seconds).toBeGreaterThan(7);
  expect(last?.sample.eta_seconds).toBeLessThan(10);
});

it('a gap between two tables is no end of the copy, a longer one is', () => {
  const two = makeDatabaseFacts({
    tables: [makeTable(), makeTable({ oid: 2, name: 'public.u' })],
    sizes: new Map([
      [1, 1000],
      [2, 1000],
    ]),
  });
  const gap = (at: number) => look({ at }, two);
  const steps = all([begin, copying(1000, 10), gap(2000), gap(6000), gap(14_000)]);
  expect(steps.map(({ sample }) => sample.phase)).toEqual(['waiting', 'copying', 'copying', 'copying', 'streaming']);
});

it('catching up takes what is left by the pace of the target less that of the source, or for ever', () => {
  const behind = (at: number, position: number, flushed: number) =>
    look({ at, walPosition: position, slots: [makeSlot({ flushed })] });
  const mega = 1024 ** 2;
  const nearer = all([behind(0, 100 * mega, 0), behind(1000, 101 * mega, 11 * mega)]).at(-1);
  expect(nearer?.sample).toMatchObject({ phase: 'catching_up', lag_bytes: 90 * mega, eta_seconds: 9, percent: 91 });
  const farther = all([behind(0, 100 * mega, 0), behind(1000, 120 * mega, 10 * mega)]).at(-1);
  expect(farther?.sample.phase).toBe('catching_up');
  expect(farther?.sample).not.toHaveProperty('eta_seconds');
});

it('idle counts looks in a row with nothing left, once no other table can begin', () => {
  const steps = all([0, 5000, 11_000, 12_000, 14_000].map((at) => look({ at })));
  expect(steps.map(({ idlePolls }) => idlePolls)).toEqual([0, 0, 0, 1, 2]);
  const away = look({ at: 14_000, slots: [makeSlot({ active: false })] });
  expect(all([look({ at: 0 }), away]).at(-1)).toMatchObject({ idlePolls: 0, sample: { lag_bytes: 0 } });
  const [, later] = all([look({ at: 0 }), look({ at: 20_000, walPosition: 1001 })]);
  expect(later?.idlePolls).toBe(0);
});

it.each([
  { delaySeconds: 2, caughtUp: true },
  { delaySeconds: 5, caughtUp: false },
])(
  'a target $delaySeconds s behind a source that is written to: caught up is $caughtUp',
  ({ delaySeconds, caughtUp }) => {
    const position = (second: number) => 1000 + 100 * Math.max(0, second);
    const seconds = Array.from({ length: 20 }, (_, second) => second);
    const polls = seconds.map((second) =>
      look({
        at: second * 1000,
        walPosition: position(second),
        slots: [makeSlot({ flushed: position(second - delaySeconds) })],
      }),
    );
    const last = all(polls).at(-1);
    expect((last?.caughtUpPolls ?? 0) > 0).toBe(caughtUp);
    expect(last?.idlePolls).toBe(0);
  },
);

it('an outage stalls, keeps the numbers, and is gone after a while; the deadline runs on', () => {
  const steps = all([look({ at: 0 }), outage(2000), outage(63_000), look({ at: 64_000 })]);
  expect(steps.map(({ sample }) => sample.phase)).toEqual(['streaming', 'stalled', 'gone', 'streaming']);
  expect(steps[1]?.sample).toMatchObject({ percent: 100, bytes_total: 1000, deadline: '1970-01-15T00:00:00Z' });
  expect(steps[2]?.sample.violations[0]).toMatchObject({ rule: 'source-unreachable' });
  expect(steps[3]?.sample.violations).toEqual([]);
});

it('a source that was never reached is reported as well, without a percentage', () => {
  const [{ sample } = {}] = all([outage(0)]);
  expect(sample).toMatchObject({ phase: 'stalled', deadline: null, databases: [] });
  expect(sample).not.toHaveProperty('percent');
  expect(sample).not.toHaveProperty('lag_bytes');
});

it('a stop is not over because the target is connected for a moment, or because the source ends its connection', () => {
  const seconds = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  const at = (second: number, slot: Partial<SlotFacts>, replyAge?: number) =>
    look({
      at: second * 1000,
      walPosition: 1000 + second,
      slots: [makeSlot({ flushed: 1000, ...slot })],
      senders: slot.pid === undefined ? [] : [makeWalSender({ pid: slot.pid, replyAge })],
    });
  const attempt = (second: number) => ({ active: false, pid: undefined, decoded: Math.floor(second / 5) });
  const stopped = [look({ at: 0 }), ...seconds(1, 50).map((second) => at(second, attempt(second)))];
  const causes = (polls: Parameters<typeof all>[0]) =>
    all(polls)
      .slice(stopped.length - 1)
      .map(({ sample }) => sample.cause?.rule);
  // A poll finds the worker in the middle of an attempt.
  expect(causes([...stopped, at(50, { pid: 9, decoded: 10 }, 0), at(51, attempt(52))])).not.toContain(undefined);
  // A blocked worker, whose connection the source ends.
  const silent = seconds(1, 60).map((second) => at(second, { pid: 7 }, second));
  const ended = seconds(60, 65).map((second) => at(second, { active: false, pid: undefined }));
  expect(all([look({ at: 0 }), ...silent, ...ended]).at(-1)?.sample.cause?.rule).toBe('apply-blocked');
  // One that applies a large transaction answers, and one that confirms something is back at once.
  const large = seconds(50, 70).map((second) => at(second, { pid: 9, decoded: 10 }, second % 10));
  expect(causes([...stopped, ...large]).at(-1)).toBeUndefined();
  expect(causes([...stopped, at(50, { pid: 9, flushed: 1040 }, 0)]).at(-1)).toBeUndefined();
});

it('every slot gone ends the watch; one of several does not', () => {
  const both = [makeSlot(), makeSlot({ name: 'x', database: 'crm', pid: 8 })];
  const databases = ['shop', 'crm'].map((name) => ({ name, commits: 0, rollbacks: 0 }));
  const without = (at: number, slots: ServerFacts['slots']) => look({ at, slots, databases });
  const steps = all([
    without(0, both),
    ...[2000, 4000].map((at) => without(at, [both[1]!])),
    ...[6000, 8000].map((at) => without(at, [])),
  ]);
  expect(steps.map(({ ending }) => ending !== undefined)).toEqual([false, false, false, false, true]);
  expect(steps[2]?.sample.violations).toMatchObject([{ rule: 'slot-dropped', database: 'shop' }]);
  const [dropped] = steps[2]?.sample.violations ?? [];
  expectGolden('db-watch', `${dropped?.observed}\nhint: ${dropped?.hint}`, 'violation');
  expect(steps[2]?.sample.phase).toBe('stalled');
  expectGolden('db-watch', `${steps[4]?.ending?.message}\nhint: ${steps[4]?.ending?.hint}`);
});

it('a slot of an earlier run that does not exist was dropped in between', () => {
  const remembered = { slots: [{ name: 's', database: 'shop' }], firstSeen: 5 };
  const [, second] = all([begin, look({ at: 2000, slots: [], senders: [] })], { remembered });
  expect(second?.sample.violations).toMatchObject([{ rule: 'slot-dropped', database: 'shop' }]);
  expect(second?.ending).toBeDefined();
});

it('an earlier slot of another consumer is ignored, also when the slot of the migration appears later', () => {
  const cdc = makeSlot({ name: 'cdc', plugin: 'pgoutput' });
  const steps = all([look({ at: 0, slots: [cdc] }), look({ at: 2000, slots: [cdc, makeSlot()] })], {
    more: { hints: { named: [], id: 'm', before: ['cdc'] } },
  });
  expect(steps[0]?.sample.phase).toBe('waiting');
  expect(steps[1]?.sample.databases[0]).toMatchObject({ slot: 's', identified_by: { grade: 'inferred' } });
});

it('ambiguous slots and unreadable facts are reported', () => {
  const [step] = all([look({ slots: [makeSlot(), makeSlot({ name: 'other' })], denied: ['host-rules'] })]);
  const identity = step?.sample.identified_by;
  expectGolden(
    'db-watch',
    [...(step?.sample.notes ?? []), identity === undefined ? '' : formatIdentity(identity)].join('\n'),
  );
});

it('databases that are ignored do not count', () => {
  const [step] = all([look({})], { more: { ignoreDbs: ['shop'] } });
  expect(step?.sample).toMatchObject({ phase: 'waiting', databases: [] });
});

it('a server that starts is loading, which is no violation, and one that is gone has no percentage', () => {
  const starting: PostgresPoll = {
    kind: 'outage',
    outage: { at: 1000, code: '57P03', reason: 'the database system is starting up' },
  };
  const [, loading, again] = all([look({ at: 0 }), starting, look({ at: 2000 })]);
  expect(loading?.sample).toMatchObject({
    phase: 'loading',
    violations: [],
    notes: [expect.stringContaining('starting')],
  });
  expect(loading?.state.outage).toBeUndefined();
  expect(again?.sample.violations).toEqual([]);
  const gone = all([look({ at: 0 }), outage(1000), outage(70_000)]).at(-1)?.sample;
  expect(gone?.phase).toBe('gone');
  for (const part of [gone, gone?.databases[0]]) {
    expect(part).not.toHaveProperty('percent');
    expect(part).not.toHaveProperty('lag_bytes');
  }
});

it('a connected target that confirms nothing in three polls of written tables is noted at once', () => {
  const written = (at: number) =>
    look(
      { at, walPosition: 1000 + at, slots: [makeSlot({ flushed: 1000 })] },
      makeDatabaseFacts({ tables: [makeTable({ inserted: 100 + at })] }),
    );
  const notes = all([0, 2000, 4000].map(written)).map(({ sample }) => sample.notes?.join() ?? '');
  expect(notes.map((note) => /confirmed nothing for 4 s/.test(note))).toEqual([false, false, true]);
  const idle = all(
    [0, 2000, 4000].map((at) => look({ at, walPosition: 1000 + at, slots: [makeSlot({ flushed: 1000 })] })),
  );
  expect(idle.at(-1)?.sample.notes).toBeUndefined();
});

it('a role that may not log in any more is no host rule', () => {
  const refused = { at: 2000, code: '28000', reason: 'role "mover" is not permitted to log in' };
  const [, { sample } = {}] = all([look({ at: 0 }), { kind: 'outage', outage: refused }]);
  expect(sample?.cause).toMatchObject({ rule: 'login-refused', fix: { statement: 'ALTER ROLE "mover" LOGIN;' } });
});

it('a stop that the first poll finds does not hide that the rows were copied', () => {
  const slots = [makeSlot({ flushed: 500, walStatus: 'lost' })];
  const [{ sample } = {}] = all([look({ at: 0, slots })]);
  expect(sample).toMatchObject({ phase: 'stalled', percent: 90 });
});

it('a silent target, denied queries and a missing slot are one note each', () => {
  expect(pollNotes('waiting', ['slots'], ['silent']).notes).toHaveLength(3);
  expect(pollNotes('waiting', [], []).notes).toHaveLength(1);
  expect(pollNotes('copying', [], [])).toEqual({});
});

it('a query that failed on the server and in a database is listed once', () => {
  const server = makeServerFacts({ denied: ['slots', 'role'] });
  expect(listDenied(server, new Map([['shop', createDatabaseState('shop')]]))).toEqual(['slots', 'role']);
});
