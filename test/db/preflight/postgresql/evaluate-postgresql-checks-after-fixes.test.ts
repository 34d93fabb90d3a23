import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CheckFinding, passOutcome } from '../../../../src/db/preflight/finding.ts';
import { declareDatabaseCheck } from '../../../../src/db/preflight/postgresql/check.ts';
import { hbaRulesQuery } from '../../../../src/db/preflight/postgresql/checks/hba-rule.ts';
import { invalidIndexesQuery } from '../../../../src/db/preflight/postgresql/checks/invalid-index.ts';
import { unvalidatedConstraintsQuery } from '../../../../src/db/preflight/postgresql/checks/not-valid.ts';
import { ownerRightsQuery } from '../../../../src/db/preflight/postgresql/checks/owner-rights.ts';
import { callingConstraintsQuery } from '../../../../src/db/preflight/postgresql/checks/reading-checks.ts';
import { removedTypesQuery } from '../../../../src/db/preflight/postgresql/checks/removed-types.ts';
import { sessionConstraintsQuery } from '../../../../src/db/preflight/postgresql/checks/session-checks.ts';
import { settingsConstraintsQuery } from '../../../../src/db/preflight/postgresql/checks/setting-checks.ts';
import { storedRolesQuery } from '../../../../src/db/preflight/postgresql/checks/stored-role.ts';
import { serverSpecificQuery } from '../../../../src/db/preflight/postgresql/checks/system-values.ts';
import { databasesQuery } from '../../../../src/db/preflight/postgresql/queries/cluster.ts';
import {
  clockConstraintsQuery,
  inheritedColumnsQuery,
} from '../../../../src/db/preflight/postgresql/queries/constraints.ts';
import { bodiesQuery, namedObjectsQuery } from '../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import { functionUsesQuery } from '../../../../src/db/preflight/postgresql/queries/function-uses.ts';
import { unreadableObjectsQuery } from '../../../../src/db/preflight/postgresql/queries/privileges.ts';
import {
  applyTriggersQuery,
  eventTriggersQuery,
  unusualRelationsQuery,
} from '../../../../src/db/preflight/postgresql/queries/relations.ts';
import {
  incomparableColumnsQuery,
  missedColumnsQuery,
  type UnsafeIdentity,
  unsafeIdentitiesQuery,
} from '../../../../src/db/preflight/postgresql/queries/replica-identities.ts';
import {
  publicationsQuery,
  slotsQuery,
  walSendersQuery,
} from '../../../../src/db/preflight/postgresql/queries/replication.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../../../../src/db/preflight/postgresql/queries/roles.ts';
import { regprocQuery } from '../../../../src/db/preflight/postgresql/queries/row-scan.ts';
import {
  capacityQuery,
  getSetting,
  restartError,
  settingsQuery,
  unappliedLinesQuery,
} from '../../../../src/db/preflight/postgresql/queries/settings.ts';
import { evaluateAfterFixes } from '../../../../src/db/preflight/postgresql/run.ts';
import type { PostgresqlFacts } from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { connected, copy, database, preflightOptions, role, settings, slot, slots, sourceFacts } from './facts.ts';
import { findingOf, healthySettings, type Returned, returns, simulated } from './simulated.ts';

type SettingValues = Parameters<typeof settings>[0];

function setting(values: SettingValues): Returned {
  return returns(settingsQuery, settings({ ...healthySettings, ...values }));
}

const table: UnsafeIdentity = {
  name: 'public.t',
  identity: 'd',
  unlogged: false,
  keyed: false,
  index: undefined,
  generatedKey: false,
  generated: false,
  primaryUsable: false,
  usableIndex: undefined,
  writes: 3,
  olderThanCounters: false,
  parent: undefined,
  perhaps: [],
  rows: 0,
  indexed: false,
};
const constraint = { name: 'c', owner: 'public.t', ofDomain: false, definition: 'CHECK ((a > 0))', inArrays: false };
const plain = role({ superuser: false, replication: false, bypassRls: false });
const notSuperuser: Partial<PostgresqlFacts> = { connection: connected({ superuser: false }) };
const roleSetting = (name: string, value: string) =>
  returns(roleSettingsQuery, [{ database: undefined, role: 'migrator', name, value }]);

interface Case {
  readonly id: string;
  readonly returned?: readonly Returned[];
  readonly facts?: Partial<PostgresqlFacts>;
  /** The status after the fix, when it is not `pass`. */
  readonly fixed?: string;
}

const cases: readonly Case[] = [
  { id: 'wal-level', returned: [setting({ wal_level: 'replica' })] },
  { id: 'slots-free', returned: [setting({ max_replication_slots: '1' })] },
  { id: 'slots-vs-dbs', returned: [setting({ max_replication_slots: '1' })] },
  { id: 'wal-senders', returned: [setting({ max_wal_senders: '1' })] },
  {
    id: 'slot-retention',
    returned: [setting({ max_slot_wal_keep_size: { value: '100', unit: 'MB', context: 'sighup' } })],
  },
  {
    id: 'wal-sender-timeout',
    returned: [setting({ wal_sender_timeout: { value: '1000', unit: 'ms', context: 'user' } })],
  },
  {
    id: 'decoding-mem',
    returned: [setting({ logical_decoding_work_mem: { value: '64', unit: 'kB', context: 'user' } })],
  },
  { id: 'listen-addresses', returned: [setting({ listen_addresses: 'localhost' })] },
  { id: 'conn-headroom', returned: [returns(capacityQuery, { max: 10, reserved: 3, used: 9 })] },
  {
    id: 'worker-processes',
    returned: [setting({ shared_preload_libraries: 'pglogical', max_worker_processes: '1' })],
  },
  {
    id: 'dump-locks',
    facts: {
      copy: {
        ...copy(),
        perDatabase: new Map([
          ['d1', { bytes: 0, tables: 90_000, largest: undefined, locks: { schema: 90_000, all: 90_000 } }],
        ]),
      },
    },
  },
  {
    id: 'sync-standby-names',
    returned: [setting({ synchronous_standby_names: { value: '*', context: 'sighup' } })],
  },
  {
    id: 'stored-role',
    returned: [roleSetting('role', 'bare'), returns(storedRolesQuery, new Map([['bare', false]]))],
  },
  { id: 'role-readonly', returned: [roleSetting('default_transaction_read_only', 'on')] },
  { id: 'role-timeouts', returned: [roleSetting('statement_timeout', '5s')] },
  { id: 'dump-timeouts', returned: [roleSetting('statement_timeout', '1')] },
  {
    id: 'temp-file-limit',
    returned: [
      returns(
        roleSettingsQuery,
        ['temp_file_limit', 'work_mem'].map((name) => ({ database: undefined, role: 'migrator', name, value: '64kB' })),
      ),
    ],
  },
  {
    id: 'auth-expiry-window',
    returned: [returns(migrationRoleQuery, role({ secondsLeft: 3600, validUntil: 'soon' }))],
  },
  {
    id: 'auth-connlimit',
    returned: [
      returns(migrationRoleQuery, { ...plain, connectionLimit: 1 }),
      returns(databasesQuery, [database('d1', { connectionLimit: 1 }), database('postgres')]),
    ],
    facts: notSuperuser,
  },
  { id: 'superuser', returned: [returns(migrationRoleQuery, plain)], facts: notSuperuser },
  {
    id: 'repl-connection',
    returned: [returns(migrationRoleQuery, plain)],
    facts: { ...notSuperuser, replication: { kind: 'refused', code: '42501', message: 'must be replication' } },
  },
  {
    id: 'rls',
    returned: [
      returns(migrationRoleQuery, plain),
      returns(unusualRelationsQuery, {
        ...unusualRelationsQuery.absent,
        secured: [{ name: 'public.t', forced: false }],
      }),
    ],
    facts: notSuperuser,
  },
  {
    id: 'owner-rights',
    returned: [
      returns(ownerRightsQuery, [
        { table: 'public.t', owner: 'clerk', rights: 'INSERT', kind: 'TABLE', on: 'public.t' },
      ]),
    ],
  },
  {
    id: 'dump-privs',
    returned: [
      returns(migrationRoleQuery, plain),
      returns(unreadableObjectsQuery, {
        objects: [{ kind: 'table', name: 'public.t', schema: 'public', usage: true, select: false }],
        tables: 1,
        sequences: 0,
      }),
    ],
    facts: notSuperuser,
  },
  {
    id: 'hba-rule',
    returned: [
      returns(hbaRulesQuery, [
        {
          line: 7,
          type: 'host',
          databases: ['all'],
          users: ['all'],
          address: '10.0.0.0',
          netmask: '255.0.0.0',
          method: 'scram-sha-256',
          options: [],
          error: undefined,
        },
      ]),
    ],
  },
  { id: 'replica-identity', returned: [returns(unsafeIdentitiesQuery, [table])] },
  {
    id: 'replica-identity',
    returned: [returns(unsafeIdentitiesQuery, [{ ...table, writes: 0, perhaps: ['upsert'] }])],
  },
  {
    id: 'full-without-eq',
    returned: [
      returns(unsafeIdentitiesQuery, [{ ...table, identity: 'f', usableIndex: 't_a_key' }]),
      returns(incomparableColumnsQuery, [{ table: 'public.t', column: 'doc json' }]),
    ],
  },
  {
    id: 'unlogged',
    returned: [
      returns(unusualRelationsQuery, {
        ...unusualRelationsQuery.absent,
        unlogged: ['public.t'],
      }),
      returns(unsafeIdentitiesQuery, [{ ...table, unlogged: true }]),
    ],
  },
  {
    id: 'leftovers',
    returned: [
      returns(slotsQuery, [slot({ name: 'aiven_db_migrate_1_slot', active: false })]),
      returns(publicationsQuery, [{ name: 'aiven_db_migrate_1_pub', allTables: true }]),
    ],
  },
  {
    id: 'time-checks',
    returned: [returns(clockConstraintsQuery, [{ ...constraint, definition: 'CHECK ((a > now()))' }])],
  },
  {
    id: 'session-checks',
    returned: [
      returns(sessionConstraintsQuery, [
        { ...constraint, definition: "CHECK ((a = current_setting('app.a')))", filled: true },
      ]),
    ],
  },
  {
    id: 'setting-checks',
    returned: [
      setting({ DateStyle: { value: 'SQL, DMY', context: 'user' } }),
      returns(settingsConstraintsQuery, [{ ...constraint, filled: true }]),
    ],
  },
  {
    id: 'reading-checks',
    returned: [
      returns(callingConstraintsQuery, [
        { calls: ['1'], name: 'c', table: 'public.t', inherited: false, definition: 'CHECK (f())' },
      ]),
      returns(bodiesQuery, [functionBody('SELECT count(*) > 0 FROM public.t')]),
    ],
  },
  {
    id: 'not-valid',
    returned: [returns(unvalidatedConstraintsQuery, [{ ...constraint, foreignKey: false, rows: 'violate' }])],
  },
  {
    id: 'not-valid',
    returned: [returns(inheritedColumnsQuery, [{ table: 'public.t', column: 'a', rows: 'fit' }])],
  },
  {
    id: 'always-triggers',
    returned: [
      returns(applyTriggersQuery, [{ table: 'public.t', name: 'x', always: true, acts: true, unlogged: false }]),
    ],
  },
  {
    id: 'event-triggers',
    returned: [
      returns(eventTriggersQuery, [{ name: 'e', body: "BEGIN RAISE EXCEPTION 'no'; END", atLogin: undefined }]),
    ],
    fixed: 'warn',
  },
  {
    id: 'invalid-index',
    returned: [
      returns(invalidIndexesQuery, [
        { name: 'public.i', table: 'public.t', unique: false, exclusion: false, busy: false },
      ]),
    ],
  },
  {
    id: 'callable-names',
    returned: [
      returns(regprocQuery, [
        {
          table: 'public.t',
          column: 'f',
          type: 'regproc',
          isInside: false,
          rows: 'violate',
          ambiguousNames: ['f'],
          path: '',
        },
      ]),
    ],
  },
  { id: 'removed-types', returned: [returns(removedTypesQuery, [{ table: 'public.t', column: undefined }])] },
  {
    id: 'system-values',
    returned: [
      returns(serverSpecificQuery, [
        { table: 'public.t', column: 'm', type: 'money', rows: 'violate', numericRoles: [], path: '' },
      ]),
    ],
  },
  {
    id: 'search-path',
    returned: [
      returns(functionUsesQuery, [{ calls: '1', kind: 'check', name: 'c', filled: true }]),
      returns(bodiesQuery, [functionBody('SELECT count(*) > 0 FROM other')]),
      returns(namedObjectsQuery, [{ kind: 'relation', schema: 'public', name: 'other', isReplaced: false, types: [] }]),
    ],
  },
];

function severity(finding: CheckFinding | undefined): number {
  return ['unknown', 'warn', 'fail'].indexOf(finding?.status ?? '');
}

function functionBody(text: string) {
  return {
    oid: '1',
    schema: 'public',
    name: 'f',
    isView: false,
    signature: 'public.f()',
    language: 'sql' as const,
    text,
    bound: '',
    hasPath: false,
    hasZone: false,
    hasRole: false,
    inlined: false,
    calls: [],
    types: [],
    names: [],
  };
}

test.each(cases)(
  'the fix of $id corrects its finding, and no other becomes worse',
  ({ id, returned, facts = {}, fixed }) => {
    const { before, findings, afterAll } = simulated(returned, { facts });
    expect(['fail', 'warn', 'unknown', 'info']).toContain(findingOf(before, id).status);
    const { fix } = findingOf(findings, id);
    expect(fix).toMatchObject({ simulated: true });
    expect(fix).not.toHaveProperty('effects');
    const after = afterAll();
    expect(findingOf(after, id)).toMatchObject({ status: fixed ?? 'pass' });
    expect(after.filter((finding, at) => severity(finding) > severity(before[at]))).toEqual([]);
  },
);

test('every fix with statements is simulated here or in the test of its check, or says why it cannot be', () => {
  const folder = new URL('../../../../src/db/preflight/postgresql/checks/', import.meta.url);
  const offersStatements =
    /\bsql: (?!\()|\bshell: |alterSystemFix\(|resetRoleSetting\(|raiseSlotsFix\(|identityFix\(|allowRuleFix\(/;
  const offering = readdirSync(folder).filter((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    return offersStatements.test(text) && !text.includes('notSimulated');
  });
  const listed = cases.map(({ id }) => `${id}.ts`);
  const hasOwnTest = (name: string): boolean =>
    readFileSync(new URL(`./checks/${name.replace('.ts', '.test.ts')}`, import.meta.url), 'utf8').includes(
      'simulated(',
    );
  const missing = offering.filter((name) => !listed.includes(name) && !hasOwnTest(name));
  const remedy = 'call `simulated` in the test of the check (docs/contributing/add-a-check.md), or set `notSimulated`';
  expect(missing, remedy).toEqual([]);
});

test('a restart that activates a lower wal_level is not written', () => {
  const { findings, after } = simulated([
    setting({ max_replication_slots: '1' }),
    returns(unappliedLinesQuery, [
      {
        name: 'wal_level',
        value: 'replica',
        error: restartError,
        file: '/data/postgresql.conf',
        line: 3,
      },
    ]),
  ]);
  const { fix } = findingOf(findings, 'slots-free');
  expect(fix).toMatchObject({ worsens: expect.arrayContaining(['wal-level']) });
  expect(fix).not.toHaveProperty('sql');
  expect(fix).not.toHaveProperty('restart');
  expect(after).toBeUndefined();
});

test('before 12 more WAL senders need more connections, without which the server does not start', () => {
  const { findings, after } = simulated(
    [setting({ max_wal_senders: '1', max_connections: '10' }), returns(walSendersQuery, [])],
    { facts: { connection: connected({ version: 110_022 }) } },
  );
  expect(findingOf(findings, 'wal-senders').fix?.sql).toEqual([
    "ALTER SYSTEM SET max_wal_senders = '8'",
    "ALTER SYSTEM SET max_connections = '18'",
  ]);
  expect(findingOf(after, 'wal-senders').status).toBe('pass');
});

test('with more WAL senders a superuser can open a replication connection', () => {
  const { after } = simulated([setting({ max_wal_senders: '0' })], {
    facts: { replication: { kind: 'refused', code: '53300', message: 'too many' } },
  });
  expect(findingOf(after, 'repl-connection').status).toBe('pass');
});

test('WAL senders with wal_level minimal need the fix of wal_level too, without which the server does not start', () => {
  const returned = [setting({ wal_level: 'minimal', max_wal_senders: '0' })];
  expect(findingOf(simulated(returned).findings, 'wal-senders').fix).toMatchObject({ simulated: true });
  const { evaluate, before } = simulated(returned);
  const { fix } = findingOf(before, 'wal-senders');
  const effects = [{ kind: 'restart' } as const, ...(fix?.effects ?? [])];
  expect(evaluate(effects.map((effect) => ({ effect, database: undefined }))).cannotStart).toContain('wal_level');
});

test('REPLICA IDENTITY FULL is not offered where a hash index would not find rows with NULL', () => {
  const hashed = returns(missedColumnsQuery, [
    { table: 'public.t', column: 'a', index: 'public.t_a', why: 'null', rows: 'violate' },
  ]);
  const { findings, after } = simulated([returns(unsafeIdentitiesQuery, [table]), hashed]);
  expect(findingOf(findings, 'replica-identity').fix?.sql).toEqual([]);
  expect(after).toBeUndefined();
  // Even if a check offered it, the simulation would find it: `other` has the results retained.
  const { evaluate } = simulated([returns(unsafeIdentitiesQuery, [table, { ...table, name: 'public.other' }]), hashed]);
  const effect = { kind: 'replica-identity', table: 'public.t', identity: 'FULL' } as const;
  expect(evaluate([{ effect, database: 'd1' }]).changed.get('full-without-eq d1')).toMatchObject({ status: 'fail' });
});

test('max_slot_wal_keep_size -1 stays as it is, and more slots leave the connections as they are', () => {
  const { findings, after } = simulated([setting({ max_replication_slots: '2' }), returns(slotsQuery, slots(2))]);
  expect(findingOf(findings, 'slot-retention').fix).toBeUndefined();
  for (const id of ['slot-retention', 'conn-headroom', 'wal-senders']) expect(findingOf(after, id).status).toBe('pass');
  expect(findingOf(after, 'slots-free').status).toBe('pass');
});

test('of two numbers for one setting the larger one is simulated, as the script sets it', () => {
  const { evaluate } = simulated([setting({ max_replication_slots: '1' })]);
  const effects = ['12', '3'].map((value) => ({ kind: 'setting', name: 'max_replication_slots', value }) as const);
  const { changed } = evaluate(effects.map((effect) => ({ effect, database: undefined })));
  expect(changed.get('slots-free')?.observed).toContain('12');
});

test('an effect in one database changes no finding of another', () => {
  const { evaluate } = simulated([returns(unsafeIdentitiesQuery, [table])]);
  const effect = { kind: 'replica-identity', table: 'public.t', identity: 'FULL' } as const;
  expect([...evaluate([{ effect, database: 'd1' }]).changed.keys()].every((key) => key.endsWith(' d1'))).toBe(true);
  expect(evaluate([{ effect, database: 'postgres' }]).changed.size).toBe(0);
});

test('a check of databases that reads only queries of the server is evaluated again', () => {
  const check = declareDatabaseCheck({
    id: 'wal-level',
    title: '',
    headline: '',
    severity: { continuous: 'blocker' },
    queries: { settings: settingsQuery },
    evaluate: ({ settings: values }) => passOutcome(getSetting(values, 'wal_level')),
  });
  const results = new Map([
    [settingsQuery, { kind: 'known', value: settings({ ...healthySettings, wal_level: 'replica' }) } as const],
  ]);
  const facts = sourceFacts();
  const collected = {
    facts,
    databases: facts.databases,
    access: facts.access,
    results,
    lost: undefined,
    findings: [],
    retained: new Map([['d1', new Map()]]),
    sizes: new Map(),
    walRate: facts.walRate,
    waited: 0,
  };
  const effects = [
    { effect: { kind: 'setting', name: 'wal_level', value: 'logical' }, database: undefined },
    { effect: { kind: 'restart' }, database: undefined },
  ] as const;
  const { changed } = evaluateAfterFixes([check], collected, facts, preflightOptions(), effects);
  expect([...changed.values()]).toMatchObject([{ database: 'd1', observed: 'logical' }]);
});
