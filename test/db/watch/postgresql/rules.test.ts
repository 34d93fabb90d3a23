import { describe, expect, it } from 'vitest';
import type { ServerFacts, TableDefinition } from '../../../../src/db/watch/postgresql/facts.ts';
import { postgresOutages } from '../../../../src/db/watch/postgresql/fold.ts';
import type { RuleInput } from '../../../../src/db/watch/postgresql/rule.ts';
import { postgresRules } from '../../../../src/db/watch/postgresql/rules.ts';
import type { TrackedTables } from '../../../../src/db/watch/postgresql/tables.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { describeViolations } from '../describe-violations.ts';
import {
  makeDatabaseFacts,
  makeRuleInput,
  makeSeenDatabase,
  makeServerFacts,
  makeSetting,
  makeSlot,
  makeWalSender,
  makeWindow,
  settingsWith,
} from './make-facts.ts';

const judge = (all: RuleInput) => postgresRules.flatMap((rule) => rule(all));
const named = (all: RuleInput) => judge(all).map(({ rule }) => rule);
const then = (more: Partial<ServerFacts>) => [makeServerFacts(), makeServerFacts({ at: 2000, ...more })];

it('a healthy migration breaks no rule, however long it is watched', () => {
  expect(
    judge(
      makeRuleInput(
        makeWindow(200, (at) => ({ walPosition: 1000 + at * 100, slots: [makeSlot({ flushed: 1000 + at * 100 })] })),
      ),
    ),
  ).toEqual([]);
});

describe('changes on the server', () => {
  const role = makeServerFacts().role!;
  it.each<[string, Partial<ServerFacts>, string]>([
    [
      'a file that lowers wal_level',
      { settings: settingsWith('wal_level', makeSetting('logical', { inFile: 'replica' })) },
      'wal-level-changed',
    ],
    [
      'a pending restart whose files are hidden',
      { settings: settingsWith('wal_level', makeSetting('logical', { pendingRestart: true })) },
      'wal-level-changed',
    ],
    ['wal_level after a restart', { settings: settingsWith('wal_level', makeSetting('replica')) }, 'wal-level-changed'],
    [
      'fewer slots than there are',
      { settings: settingsWith('max_replication_slots', makeSetting('10', { inFile: '0' })) },
      'max-replication-slots-changed',
    ],
    [
      'fewer slots, still enough',
      { settings: settingsWith('max_replication_slots', makeSetting('10', { inFile: '5' })) },
      'max-replication-slots-changed',
    ],
    [
      'fewer slots after a restart',
      { settings: settingsWith('max_replication_slots', makeSetting('5')) },
      'max-replication-slots-changed',
    ],
    [
      'fewer senders',
      { settings: settingsWith('max_wal_senders', makeSetting('10', { inFile: '2' })) },
      'max-wal-senders-changed',
    ],
    [
      'another address to listen on',
      { settings: settingsWith('listen_addresses', makeSetting('localhost')) },
      'listen-addresses-changed',
    ],
    [
      'TLS switched off in the file',
      { settings: settingsWith('ssl', makeSetting('on', { inFile: 'false' })) },
      'ssl-changed',
    ],
    ['a restart', { startedAt: 'Tuesday' }, 'source-restarted'],
    ['a failover', { inRecovery: true }, 'source-in-recovery'],
    ['a removed host rule', { hbaRuleLines: [] }, 'pg-hba-changed'],
    [
      'an added host rule',
      { hbaRuleLines: ['host all all 10.0.0.0/8 reject', ...(makeServerFacts().hbaRuleLines ?? [])] },
      'pg-hba-changed',
    ],
    ['a role without SUPERUSER', { role: { ...role, superuser: false } }, 'role-changed'],
    ['a password that ends', { role: { ...role, secondsLeft: 3600 } }, 'password-expires'],
    ['a password that has ended', { role: { ...role, secondsLeft: -1 } }, 'password-expired'],
    ...[
      { what: 'of the role', isOfRole: true, database: undefined },
      { what: 'of a database', isOfRole: false, database: 'shop' },
      { what: 'of the role in a database', isOfRole: true, database: 'shop' },
    ].map(({ what, ...where }): [string, Partial<ServerFacts>, string] => [
      `a statement timeout ${what}`,
      { role: { ...role, timeouts: [{ setting: 'statement_timeout=1s', ...where }] } },
      'role-timeout',
    ]),
    ['another password', { role: { ...role, revision: '2' } }, 'role-altered'],
    [
      'a refused connection',
      { connection: { addresses: '10.0.0.1', certificate: undefined, refused: { code: '28P01', message: 'no' } } },
      'login-refused',
    ],
    ['another address', { connection: { addresses: '10.0.0.2', certificate: 'a', refused: undefined } }, 'dns-changed'],
    [
      'another certificate',
      { connection: { addresses: '10.0.0.1', certificate: 'b', refused: undefined } },
      'certificate-replaced',
    ],
  ])('%s is reported', (_what, more, rule) => {
    const [first, last] = then(more);
    // A sight counts when two polls have it.
    const violations = judge(makeRuleInput([first!, { ...last!, at: 1000 }, last!]));
    expect(violations.map((one) => one.rule)).toEqual([rule]);
    expectGolden('db-watch', describeViolations(violations));
  });

  it('more slots, an on for a true, and what this role may not see are no violations', () => {
    expect(
      named(
        makeRuleInput(then({ settings: settingsWith('max_replication_slots', makeSetting('10', { inFile: '20' })) })),
      ),
    ).toEqual([]);
    expect(
      named(makeRuleInput(then({ settings: settingsWith('ssl', makeSetting('on', { inFile: 'true' })) }))),
    ).toEqual([]);
    expect(named(makeRuleInput(then({ role: undefined, hbaRuleLines: undefined, connection: undefined })))).toEqual([]);
  });

  it('a restart is reported for a while', () => {
    const window = makeWindow(400, (at) => (at < 10 ? {} : { startedAt: 'Tuesday' }));
    expect(named(makeRuleInput(window.slice(0, 100)))).toEqual(['source-restarted']);
    expect(named(makeRuleInput(window))).toEqual([]);
  });
});

describe('slots, publications and tables', () => {
  it('a slot is dropped when two looks miss it', () => {
    const window = then({ slots: [] });
    expect(named(makeRuleInput(window, { ours: { slot: undefined, missedPolls: 1 } }))).toEqual([]);
    expect(named(makeRuleInput(window, { ours: { slot: undefined, missedPolls: 2 } }))).toEqual(['slot-dropped']);
  });

  it.each([[{ walStatus: 'lost' }], [{ invalidated: 'idle_timeout' }]])(
    'a slot that can never be used again is lost: %j',
    (more) => {
      const violations = judge(makeRuleInput(then({ slots: [makeSlot({ ...more, active: false })] })));
      expect(violations[0]).toMatchObject({ rule: 'slot-lost', database: 'shop' });
      expectGolden('db-watch', describeViolations(violations));
    },
  );

  it.each([
    ['dropped', new Map<string, string>(), 'publication-dropped'],
    ['altered', new Map([['p', 'other']]), 'publication-changed'],
  ])('a publication that the target reads and that was %s is reported', (_what, publications, rule) => {
    const database = makeSeenDatabase({ now: makeDatabaseFacts({ publications }) });
    expect(named(makeRuleInput(then({}), { databases: [database] }))).toEqual([rule]);
  });

  it('publications of other consumers may be created and dropped', () => {
    const publications = new Map([
      ['p', 'all'],
      ['theirs', 'x'],
    ]);
    expect(named(makeRuleInput(then({}), { databases: [makeSeenDatabase({ publications })] }))).toEqual([]);
  });

  const shape = (more: Partial<TableDefinition> = {}): TableDefinition => ({
    schema: 'public',
    table: 't',
    columns: '1',
    identity: 'd',
    keyColumns: ['id'],
    hasReplicaIdentity: true,
    ...more,
  });
  const columns = (...types: readonly (readonly [string, string])[]) =>
    new Map([['public.t', types.map(([name, type]) => ({ name, type, notNull: false }))]]);
  it.each<[string, Partial<TrackedTables>, string, string]>([
    [
      'a new table',
      {
        now: new Map([
          ['public.t', shape()],
          ['public.new t', shape({ table: 'new t' })],
        ]),
        columnsNow: new Map([['public.new t', [{ name: 'id', type: 'integer', notNull: true }]]]),
      },
      'table-new',
      'public.new t',
    ],
    [
      'a new column',
      {
        now: new Map([['public.t', shape({ columns: '2' })]]),
        columnsNow: columns(['id', 'integer'], ['note', 'character varying(20)']),
      },
      'column-added',
      'public.t.note',
    ],
    [
      'a column with a type that cannot be printed safely',
      {
        now: new Map([['public.t', shape({ columns: '2' })]]),
        columnsNow: columns(['id', 'integer'], ['note', 'text; DROP TABLE t']),
      },
      'column-added',
      'public.t.note',
    ],
    [
      'another type',
      { now: new Map([['public.t', shape({ columns: '2' })]]), columnsNow: columns(['id', 'bigint']) },
      'column-type-changed',
      'public.t.id',
    ],
    [
      'a dropped column',
      { now: new Map([['public.t', shape({ columns: '2' })]]), columnsNow: columns() },
      'column-dropped',
      'public.t.id',
    ],
    [
      'a change of which the columns are not known',
      { now: new Map([['public.t', shape({ columns: '2' })]]) },
      'schema-changed',
      'public.t',
    ],
    [
      'another key',
      { now: new Map([['public.t', shape({ keyColumns: ['a'] })]]) },
      'replica-identity-changed',
      'public.t',
    ],
    [
      'no key any more',
      { now: new Map([['public.t', shape({ keyColumns: [], hasReplicaIdentity: false })]]) },
      'replica-identity-removed',
      'public.t',
    ],
    [
      'an identity of nothing',
      { now: new Map([['public.t', shape({ identity: 'n', keyColumns: [], hasReplicaIdentity: false })]]) },
      'replica-identity-removed',
      'public.t',
    ],
    ['a dropped table', { now: new Map() }, 'table-dropped', 'public.t'],
  ])('%s is reported with its object', (_what, more, rule, object) => {
    const first = new Map([['public.t', shape()]]);
    const shapes = {
      first,
      now: first,
      columnsBefore: columns(['id', 'integer']),
      columnsNow: new Map(),
      sightings: new Map(),
      ...more,
    };
    const violations = judge(makeRuleInput(then({}), { databases: [makeSeenDatabase({ shapes })] }));
    expect(violations).toMatchObject([{ rule, object, database: 'shop' }]);
    expectGolden('db-watch', describeViolations(violations));
  });
});

describe('a target that does not apply changes', () => {
  const frozen = (more: (at: number) => object) => (at: number) => ({
    walPosition: 2000 + at,
    senders: [],
    slots: [makeSlot({ active: false, pid: undefined, flushed: 1000, ...more(at) })],
  });
  /** An attempt every five seconds, as seen since 17 and since 14. */
  const attempt = (at: number) => Math.floor(at / 5);

  it.each([
    ['17', (at: number) => ({ inactiveSince: `attempt ${attempt(at)}` })],
    ['14', (at: number) => ({ decoded: attempt(at) })],
    ['13, when an attempt is met by chance', (at: number) => ({ decoded: undefined, active: at % 13 === 0 })],
  ])('an apply that fails again and again is named on %s', (_version, more) => {
    const window = makeWindow(75, frozen(more));
    expect(named(makeRuleInput(window))).toEqual(['apply-failing']);
    expectGolden('db-watch', describeViolations(judge(makeRuleInput(window))));
    expect(named(makeRuleInput(window.slice(0, 25)))).toEqual([]);
  });

  it.each([
    ['17', { inactiveSince: 'once' }, 'target-disconnected'],
    ['14', { decoded: 5 }, 'target-disconnected'],
    ['13', { decoded: undefined }, 'apply-failing-or-disconnected'],
  ])('a disconnected target is reported on %s', (_version, more, rule) => {
    const window = makeWindow(
      62,
      frozen(() => more),
    );
    expect(named(makeRuleInput(window))).toEqual([rule]);
    expectGolden('db-watch', describeViolations(judge(makeRuleInput(window))));
    expect(named(makeRuleInput(window.slice(0, 40)))).toEqual([]);
  });

  it('an unused slot, or one without changes, is not failing', () => {
    const window = makeWindow(
      90,
      frozen(() => ({ inactiveSince: 'once' })),
    );
    expect(named(makeRuleInput(window, { ours: { wasActive: false } }))).toEqual([]);
    expect(named(makeRuleInput(makeWindow(90, (at) => ({ ...frozen(() => ({}))(at), walPosition: 1000 }))))).toEqual(
      [],
    );
  });

  it('a connected target that does not respond waits for something', () => {
    const window = (replyAge: number | undefined, count: number) =>
      makeWindow(count, (at) => ({
        walPosition: 2000 + at,
        slots: [makeSlot({ flushed: 1000 })],
        senders: [makeWalSender({ replyAge })],
      }));
    expect(named(makeRuleInput(window(36, 3)))).toEqual(['apply-blocked']);
    expectGolden('db-watch', describeViolations(judge(makeRuleInput(window(36, 3)))));
    // It applies a large transaction.
    expect(named(makeRuleInput(window(9, 300)))).toEqual([]);
    // Up to PostgreSQL 11 the last message is not shown.
    expect(named(makeRuleInput(window(undefined, 95)))).toEqual(['apply-blocked']);
    expect(named(makeRuleInput(window(undefined, 85)))).toEqual([]);
  });

  it('causes of preflight warnings come first', () => {
    const window = makeWindow(
      75,
      frozen((at) => ({ decoded: attempt(at) })),
    );
    const warned = judge(makeRuleInput(window, { warned: ['ext-tables'] }));
    const notWarned = judge(makeRuleInput(window));
    expect(warned[0]?.hint).not.toBe(notWarned[0]?.hint);
    expectGolden('db-watch', describeViolations([...warned, ...notWarned]));
  });

  it('a table whose copy fails again and again is named', () => {
    const sync = makeSlot({ name: 'pg_1_sync_2_3', active: false });
    const worker = makeWalSender({ pid: 9, application: 'pg_1_sync_2_3', state: 'startup' });
    const failing = makeWindow(60, () => ({ slots: [makeSlot(), sync] }));
    expect(named(makeRuleInput(failing))).toEqual(['copy-failing']);
    expect(
      named(makeRuleInput(makeWindow(60, () => ({ slots: [makeSlot(), sync], senders: [makeWalSender(), worker] })))),
    ).toEqual([]);
  });
});

describe('WAL and commits', () => {
  it.each([
    ['extended and growing', { walStatus: 'extended', safeWalBytes: 10_000 }, 100],
    ['unreserved', { walStatus: 'unreserved', safeWalBytes: -5 }, 0],
    ['extended without a limit', { walStatus: 'extended' }, 100],
  ])('WAL that is %s is reported', (_what, more, rate) => {
    const window = makeWindow(11, (at) => ({ slots: [makeSlot({ ...more, retained: 1000 + at * rate })] }));
    const violations = judge(makeRuleInput(window));
    expect(violations).toMatchObject([{ rule: 'wal-disk' }]);
    expectGolden('db-watch', describeViolations(violations));
  });

  it('WAL that is extended and shrinks is on its way back', () => {
    expect(
      named(
        makeRuleInput(makeWindow(11, (at) => ({ slots: [makeSlot({ walStatus: 'extended', retained: 5000 - at })] }))),
      ),
    ).toEqual([]);
  });

  it('commits that wait for a standby in two looks are blocked', () => {
    const waits = { blocked: { commits: 3, seconds: 9 } };
    expect(named(makeRuleInput(then(waits)))).toEqual([]);
    expect(
      named(
        makeRuleInput([makeServerFacts(), makeServerFacts({ at: 1, ...waits }), makeServerFacts({ at: 2, ...waits })]),
      ),
    ).toEqual(['commits-blocked']);
  });

  const traffic = (commits: number, rollbacks: number) => [{ name: 'shop', commits, rollbacks }];
  it('a rise of failing statements is a violation and names tables without a replica identity', () => {
    const shapes = new Map([
      [
        'public.log',
        { schema: 'public', table: 'log', columns: '', identity: 'd', keyColumns: [], hasReplicaIdentity: false },
      ],
    ]);
    const window = makeWindow(45, (at) => ({ databases: traffic(1000 + at, 1 + at) }));
    const violations = judge(
      makeRuleInput(window, {
        databases: [
          makeSeenDatabase({
            shapes: {
              first: shapes,
              now: shapes,
              columnsBefore: new Map(),
              columnsNow: new Map(),
              sightings: new Map(),
            },
          }),
        ],
      }),
    );
    expect(violations).toMatchObject([{ rule: 'rollbacks' }]);
    expectGolden('db-watch', describeViolations(violations));
  });

  it.each([
    [
      'what a walsender decoded counts as rolled back',
      (at: number) => ({ databases: traffic(1000 + at, 1 + at), slots: [makeSlot({ decoded: at })] }),
    ],
    [
      'what a walsender leaves at its end is no jump',
      (at: number) => ({
        databases: traffic(1000 + at, at < 44 ? 1 : 500),
        slots: [makeSlot({ pid: at < 44 ? 7 : 8 })],
      }),
    ],
    ['an application that always rolls back goes on', (at: number) => ({ databases: traffic(1000 + at, 1000 + at) })],
  ])('%s', (_why, make) => {
    expect(named(makeRuleInput(makeWindow(45, make)))).toEqual([]);
  });
});

describe('a source that cannot be reached', () => {
  it.each([
    ['ECONNREFUSED', 'source-unreachable'],
    ['28P01', 'login-refused'],
    ['NO_TLS', 'tls-changed'],
    ['53300', 'connections-exhausted'],
    ['3D000', 'database-dropped'],
    ['ENOTFOUND', 'dns-changed'],
    ['ETIMEDOUT', 'source-unreachable'],
  ])('%s is reported as %s', (code, rule) => {
    const violations = postgresOutages({ at: 9000, code, reason: 'no' }, 0, {
      facts: undefined,
      baseline: undefined,
      role: 'mover',
    });
    expect(violations).toMatchObject([{ rule }]);
    expectGolden('db-watch', describeViolations(violations));
  });

  it('after wal_level was lowered the hint explains why the server does not start', () => {
    const last = makeServerFacts({
      settings: settingsWith('wal_level', makeSetting('logical', { inFile: 'replica' })),
    });
    const violations = postgresOutages({ at: 0, code: 'ECONNREFUSED', reason: 'no' }, 0, {
      facts: last,
      baseline: undefined,
      role: 'mover',
    });
    expect(violations).toMatchObject([{ rule: 'source-unreachable' }]);
    expectGolden('db-watch', describeViolations(violations));
  });
});
