import { expect, test } from 'vitest';
import type { CheckOutcome } from '../../../src/preflight/finding.ts';
import { alwaysTriggersCheck } from '../../../src/preflight/postgresql/checks/always-triggers.ts';
import { ddlActivityCheck } from '../../../src/preflight/postgresql/checks/ddl-activity.ts';
import { dumpPrivsCheck } from '../../../src/preflight/postgresql/checks/dump-privs.ts';
import { eventTriggersCheck } from '../../../src/preflight/postgresql/checks/event-triggers.ts';
import { extTablesCheck } from '../../../src/preflight/postgresql/checks/ext-tables.ts';
import { extensionsCheck } from '../../../src/preflight/postgresql/checks/extensions.ts';
import { foreignTablesCheck } from '../../../src/preflight/postgresql/checks/foreign-tables.ts';
import { generatedColumnsCheck } from '../../../src/preflight/postgresql/checks/generated-columns.ts';
import { identityColumnsCheck } from '../../../src/preflight/postgresql/checks/identity-columns.ts';
import { invalidIndexCheck } from '../../../src/preflight/postgresql/checks/invalid-index.ts';
import { largeObjectsCheck } from '../../../src/preflight/postgresql/checks/large-objects.ts';
import { matviewsCheck } from '../../../src/preflight/postgresql/checks/matviews.ts';
import { notValidCheck } from '../../../src/preflight/postgresql/checks/not-valid.ts';
import { partitionsCheck } from '../../../src/preflight/postgresql/checks/partitions.ts';
import { pubExistingCheck } from '../../../src/preflight/postgresql/checks/pub-existing.ts';
import { removedTypesCheck } from '../../../src/preflight/postgresql/checks/removed-types.ts';
import { rlsCheck } from '../../../src/preflight/postgresql/checks/rls.ts';
import { secdefCheck } from '../../../src/preflight/postgresql/checks/secdef.ts';
import { subsExistingCheck } from '../../../src/preflight/postgresql/checks/subs-existing.ts';
import { systemTablesCheck } from '../../../src/preflight/postgresql/checks/system-tables.ts';
import { tablespacesCheck } from '../../../src/preflight/postgresql/checks/tablespaces.ts';
import { tempTablesCheck } from '../../../src/preflight/postgresql/checks/temp-tables.ts';
import { timeChecksCheck } from '../../../src/preflight/postgresql/checks/time-checks.ts';
import { referencedTablesFirst, unloggedCheck } from '../../../src/preflight/postgresql/checks/unlogged.ts';
import { untrustedLangCheck } from '../../../src/preflight/postgresql/checks/untrusted-lang.ts';
import type { MigrationRole } from '../../../src/preflight/postgresql/queries/migration-role.ts';
import type { NotableRelations } from '../../../src/preflight/postgresql/queries/relations.ts';
import { connected, preflightOptions, role, short, sourceFacts } from './facts.ts';

const blocked = 'fail continuous';

function relations(more: Partial<NotableRelations> = {}): { readonly relations: NotableRelations } {
  const none = { unlogged: [], foreign: [], temporary: [], partitioned: [], matviews: [], secured: [], placed: [] };
  return { relations: { ...none, ...more } };
}

interface Judged {
  readonly what: string;
  /** For the continuous method and for the dump. */
  readonly continuous: CheckOutcome;
  readonly dump?: CheckOutcome;
  readonly verdict: string;
  readonly dumped?: string;
}

function both<V>(
  check: {
    readonly evaluate: (
      values: V,
      database: string,
      where: ReturnType<typeof sourceFacts>,
      w: ReturnType<typeof preflightOptions>,
    ) => CheckOutcome;
  },
  values: V,
): Pick<Judged, 'continuous' | 'dump'> {
  return {
    continuous: check.evaluate(values, 'd1', sourceFacts(), preflightOptions()),
    dump: check.evaluate(values, 'd1', sourceFacts(), preflightOptions({ method: 'dump' })),
  };
}

const range = {
  name: 'public.p',
  strategy: 'range',
  partitions: 3,
  hasDefault: false,
  enumHashed: false,
  numbered: 'none',
  closed: false,
  excluding: undefined,
} as const;
const loose = {
  name: 'public.f()',
  owner: 'postgres',
  securityDefiner: true,
  untrusted: undefined,
  library: undefined,
  locales: [],
};
const index = { name: 'public.i', table: 'public.t', unique: false, exclusion: false, busy: false };

const loud = {
  name: 'c',
  owner: 'public.t',
  definition: 'CHECK ((b < 10)) NOT VALID',
  ofDomain: false,
  inArrays: false,
  foreignKey: false,
  rows: 'violate',
} as const;
const load = { object: 'view public.load', needs: 'column pg_stat_bgwriter.buffers_backend', since: 17 };
const kept = {
  outdatedViews: [],
  outdatedOperators: [],
  outdatedCalls: [],
  outdatedDefinitions: [],
  outdatedFunctions: [],
};

const table: readonly Judged[] = [
  { what: 'no foreign table', ...both(foreignTablesCheck, relations()), verdict: 'pass' },
  { what: 'a foreign table', ...both(foreignTablesCheck, relations({ foreign: ['public.f'] })), verdict: 'info' },
  { what: 'no temporary table', ...both(tempTablesCheck, relations()), verdict: 'pass' },
  { what: 'a temporary table', ...both(tempTablesCheck, relations({ temporary: ['pg_temp_3.t'] })), verdict: 'info' },
  { what: 'no partitions', ...both(partitionsCheck, { partitions: [] }), verdict: 'pass' },
  { what: 'partitions by range', ...both(partitionsCheck, { partitions: [range] }), verdict: 'warn', dumped: 'info' },
  {
    what: 'partitions by hash',
    ...both(partitionsCheck, { partitions: [{ ...range, strategy: 'hash' as const }] }),
    verdict: 'pass',
  },
  {
    what: 'partitions of a table with an EXCLUDE constraint',
    ...both(partitionsCheck, { partitions: [{ ...range, excluding: 'bookings_excl' }] }),
    verdict: 'fail continuous+dump',
    dumped: 'fail continuous+dump',
  },
  {
    what: 'a table with an EXCLUDE constraint that has no partition yet',
    ...both(partitionsCheck, { partitions: [{ ...range, partitions: 0, excluding: 'bookings_excl' }] }),
    verdict: 'warn',
    dumped: 'info',
  },
  { what: 'no large objects', ...both(largeObjectsCheck, { largeObjects: 0 }), verdict: 'pass' },
  { what: 'large objects', ...both(largeObjectsCheck, { largeObjects: 2 }), verdict: 'warn', dumped: 'info' },
  { what: 'no materialized view', ...both(matviewsCheck, relations()), verdict: 'pass' },
  {
    what: 'a materialized view',
    ...both(matviewsCheck, relations({ matviews: [{ name: 'public.m', populated: false }] })),
    verdict: 'info',
  },
  {
    what: 'no marked column',
    ...both(generatedColumnsCheck, { columns: { generated: [], identity: [] }, functionUses: [], functionBodies: [] }),
    verdict: 'pass',
  },
  {
    what: 'a generated column',
    ...both(generatedColumnsCheck, {
      functionUses: [],
      functionBodies: [],
      columns: { generated: [{ table: 'public.t', column: 'g', virtual: true }], identity: [] },
    }),
    verdict: 'info',
  },
  {
    what: 'no identity column',
    ...both(identityColumnsCheck, { columns: { generated: [], identity: [] }, functionUses: [], functionBodies: [] }),
    verdict: 'pass',
  },
  {
    what: 'an identity column',
    ...both(identityColumnsCheck, { columns: { generated: [], identity: ['public.t.a'] } }),
    verdict: 'info',
  },
  { what: 'tables of extensions', ...both(extTablesCheck, { filledTables: [] }), verdict: 'pass' },
  {
    what: 'filled tables of extensions',
    ...both(extTablesCheck, { filledTables: [{ name: 'public.spatial_ref_sys', extension: 'postgis' }] }),
    verdict: blocked,
    dumped: 'info',
  },
  {
    what: 'no table among those of the system',
    ...both(systemTablesCheck, { systemTables: [], systemObjects: [] }),
    verdict: 'pass',
  },
  {
    what: 'a table among those of the system',
    ...both(systemTablesCheck, {
      systemObjects: [],
      systemTables: [{ name: 'information_schema.t', schema: 'information_schema', moved: 'public.t' }],
    }),
    verdict: blocked,
  },
  {
    what: 'no event trigger',
    ...both(eventTriggersCheck, { eventTriggers: [], ...relations() }),
    verdict: 'pass',
  },
  {
    what: 'an event trigger',
    ...both(eventTriggersCheck, {
      eventTriggers: [{ name: 'e', body: undefined, atLogin: undefined }],
      ...relations(),
    }),
    verdict: 'warn',
  },
  ...[
    { body: 'BEGIN RAISE NOTICE $$seen$$; END', verdict: 'warn' },
    { body: "BEGIN IF tg_tag = 'DROP TABLE' THEN RAISE EXCEPTION 'no'; END IF; END", verdict: 'warn' },
    { body: "BEGIN RAISE EXCEPTION 'no % if you please', tg_tag; END", verdict: blocked },
    { body: "BEGIN RAISE 'no'; END", verdict: blocked },
  ].map(({ body, verdict }) => ({
    what: `an event trigger that does: ${body}`,
    ...both(eventTriggersCheck, {
      eventTriggers: [{ name: 'e', body, atLogin: undefined }],
      ...relations(),
    }),
    verdict,
  })),
  {
    what: 'trusted languages',
    ...both(untrustedLangCheck, { untrustedLanguages: [], markedFunctions: [loose] }),
    verdict: 'pass',
  },
  {
    what: 'a language',
    ...both(untrustedLangCheck, { untrustedLanguages: [{ name: 'plpython3u', bare: false }], markedFunctions: [] }),
    verdict: 'warn',
  },
  {
    what: 'a function in C',
    ...both(untrustedLangCheck, { untrustedLanguages: [], markedFunctions: [{ ...loose, untrusted: 'c' }] }),
    verdict: 'warn',
  },
  {
    what: 'a definer who is no superuser',
    ...both(secdefCheck, { markedFunctions: [loose], superusers: ['other'] }),
    verdict: 'pass',
  },
  {
    what: 'a definer who is a superuser',
    ...both(secdefCheck, { markedFunctions: [loose], superusers: ['postgres'] }),
    verdict: 'warn',
  },
  {
    what: 'an invoker in C',
    ...both(secdefCheck, { markedFunctions: [{ ...loose, securityDefiner: false }], superusers: ['postgres'] }),
    verdict: 'pass',
  },
  { what: 'no invalid index', ...both(invalidIndexCheck, { invalidIndexes: [] }), verdict: 'pass' },
  { what: 'an invalid index', ...both(invalidIndexCheck, { invalidIndexes: [index] }), verdict: 'warn' },
  ...(
    [
      ['violate', 'fail continuous+dump'],
      ['unseen', 'unknown'],
      ['fit', 'warn'],
    ] as const
  ).map(([rows, verdict]) => ({
    what: `a column that takes NULL where its parent does not: ${rows}`,
    ...both(notValidCheck, {
      unvalidated: [{ ...loud, rows: 'fit' }],
      looserColumns: [{ table: 'public.c', column: 'a', rows }],
    }),
    verdict,
  })),
  { what: 'valid constraints', ...both(notValidCheck, { looserColumns: [], unvalidated: [] }), verdict: 'pass' },
  ...(
    [
      ['violate', 'fail continuous+dump'],
      ['unseen', 'unknown'],
      ['fit', 'info'],
      ['none', 'info'],
    ] as const
  ).map(([rows, verdict]) => ({
    what: `a NOT VALID constraint and its rows: ${rows}`,
    ...both(notValidCheck, { looserColumns: [], unvalidated: [{ ...loud, rows }] }),
    verdict,
  })),
  {
    what: 'a NOT VALID foreign key',
    ...both(notValidCheck, { looserColumns: [], unvalidated: [{ ...loud, rows: 'unseen', foreignKey: true }] }),
    verdict: 'info',
  },
  ...[
    'b > now()',
    "(now() - '1 day'::interval) <= b",
    '(a = 1) AND (b >= CURRENT_DATE)',
    '(CURRENT_DATE)::timestamp with time zone < b',
    '(a < now()) AND (b > clock_timestamp())',
  ].map((text) => ({
    what: `CHECK (${text})`,
    ...both(timeChecksCheck, {
      clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
    }),
    verdict: 'fail continuous+dump',
  })),
  ...['b <= now()', 'CURRENT_DATE > b', '(a < now()) AND (b < 5)', '(now() > a) OR (b <= 1)', 'a = CURRENT_USER'].map(
    (text) => ({
      what: `CHECK (${text})`,
      ...both(timeChecksCheck, {
        clockChecks: [{ name: 'c', owner: 'public.t', ofDomain: false, definition: `CHECK ((${text}))` }],
      }),
      verdict: 'pass',
    }),
  ),
  { what: 'rows that all may see', ...both(rlsCheck, relations()), verdict: 'pass' },
  {
    what: 'hidden rows',
    ...both(rlsCheck, relations({ secured: [{ name: 'public.t', forced: false }] })),
    verdict: 'fail continuous+dump',
  },
  { what: 'a quiet schema', ...both(ddlActivityCheck, { extensions: [], recentDdl: [] }), verdict: 'pass' },
  {
    what: 'a job that makes tables',
    ...both(ddlActivityCheck, { extensions: [{ name: 'pg_partman', version: '5' }], recentDdl: [] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'an extension that makes none',
    ...both(ddlActivityCheck, { extensions: [{ name: 'hstore', version: '1' }], recentDdl: [] }),
    verdict: 'pass',
  },
  {
    what: 'a table altered today',
    ...both(ddlActivityCheck, { extensions: [], recentDdl: ['public.t'] }),
    verdict: 'warn',
    dumped: 'info',
  },
  { what: 'nothing removed', ...both(removedTypesCheck, { ...kept, removedUses: [] }), verdict: 'pass' },
  {
    what: 'WITH OIDS',
    ...both(removedTypesCheck, { ...kept, removedUses: [{ table: 'public.t', column: undefined }] }),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a view that the target cannot make',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    ),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a view that the target still makes',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '16' }),
    ),
    verdict: 'pass',
  },
  {
    what: 'a view that a target may not make',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: undefined }),
    ),
    verdict: 'warn',
  },
  { what: 'no subscription', ...both(subsExistingCheck, { subscriptions: [] }), verdict: 'pass' },
  {
    what: 'a subscription of another database',
    ...both(subsExistingCheck, { subscriptions: [{ database: 'other', name: 's', enabled: true }] }),
    verdict: 'pass',
  },
  {
    what: 'a subscription',
    ...both(subsExistingCheck, { subscriptions: [{ database: 'd1', name: 's', enabled: true }] }),
    verdict: 'warn',
  },
  {
    what: 'a publication',
    ...both(pubExistingCheck, { publications: [{ name: 'cdc', allTables: false }] }),
    verdict: 'info',
  },
  {
    what: 'a publication left by a migration',
    ...both(pubExistingCheck, { publications: [{ name: 'aiven_db_migrate_1_pub', allTables: true }] }),
    verdict: 'pass',
  },
];

test.each(table)('$what: $verdict', ({ continuous, dump, verdict, dumped = verdict }) => {
  expect(short(continuous)).toBe(verdict);
  if (dump !== undefined) expect(short(dump)).toBe(dumped);
});

test.each([
  { has: ['hstore'], told: undefined, verdict: 'unknown' },
  { has: ['plpgsql'], told: undefined, verdict: 'pass' },
  { has: [], told: [], verdict: 'pass' },
  { has: ['hstore', 'PostGIS'], told: ['hstore', 'postgis'], verdict: 'pass' },
  { has: ['hstore', 'postgis'], told: ['hstore'], verdict: 'fail continuous+dump' },
])('extensions $has, the target told $told: $verdict', ({ has, told, verdict }) => {
  const extensions = has.map((name) => ({ name, version: '1.0' }));
  const outcome = extensionsCheck.evaluate(
    { extensions },
    'd1',
    sourceFacts(),
    preflightOptions({ targetExtensions: told }),
  );
  expect(short(outcome)).toBe(verdict);
});

test('an unlogged table is made logged after those that it refers to, and given an identity before', () => {
  const values = {
    ...relations({ unlogged: ['public.a', 'public.b', 'public.c'] }),
    unequalColumns: [],
    unloggedReferences: [
      { from: 'public.a', to: 'public.b', logged: false, truncated: false },
      { from: 'public.b', to: 'public.c', logged: false, truncated: false },
    ],
    identities: [
      {
        name: 'public.a',
        identity: 'd',
        unlogged: true,
        keyed: false,
        index: undefined,
        generatedKey: false,
        generated: false,
        primaryUsable: false,
        usableIndex: undefined,
        writes: 0,
      },
    ],
  };
  const outcome = unloggedCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(outcome).toMatchObject({ status: 'warn', dataLoss: 'the rows of 3 unlogged tables' });
  expect(outcome.fix).toMatchObject({
    sql: [
      'ALTER TABLE public.a REPLICA IDENTITY FULL',
      'ALTER TABLE public.c SET LOGGED',
      'ALTER TABLE public.b SET LOGGED',
      'ALTER TABLE public.a SET LOGGED',
    ],
    undo: [
      'ALTER TABLE public.a SET UNLOGGED',
      'ALTER TABLE public.b SET UNLOGGED',
      'ALTER TABLE public.c SET UNLOGGED',
      'ALTER TABLE public.a REPLICA IDENTITY DEFAULT',
    ],
  });
  const dump = unloggedCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ method: 'dump' }));
  expect([dump.status, dump.dataLoss]).toEqual(['info', undefined]);
});

test('tables that refer to each other in a circle end all the same', () => {
  const circle = [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'a'],
  ].map(([from = '', to = '']) => ({ from, to, logged: false, truncated: false }));
  expect(referencedTablesFirst(['a', 'b', 'c'], circle).toSorted()).toEqual(['a', 'b', 'c']);
});

test('a trigger of the kind REPLICA is disabled, since it would begin to fire here', () => {
  const applyTriggers = [
    { table: 'public.t', name: 'The "Audit"', always: true, acts: false, unlogged: false },
    { table: 'public.t', name: 'mirror', always: false, acts: false, unlogged: false },
  ];
  expect(alwaysTriggersCheck.evaluate({ applyTriggers }, 'd1', sourceFacts(), preflightOptions()).fix).toMatchObject({
    sql: ['ALTER TABLE public.t ENABLE TRIGGER "The ""Audit"""', 'ALTER TABLE public.t DISABLE TRIGGER "mirror"'],
    undo: [
      'ALTER TABLE public.t ENABLE ALWAYS TRIGGER "The ""Audit"""',
      'ALTER TABLE public.t ENABLE REPLICA TRIGGER "mirror"',
    ],
  });
});

test.each([
  { body: 'BEGIN INSERT INTO public.logins VALUES (session_user); END', verdict: 'fail continuous+dump' },
  { body: 'BEGIN INSERT INTO "The Log" VALUES (session_user); END', verdict: 'warn' },
  { body: "BEGIN RAISE NOTICE 'welcome'; END", verdict: 'warn' },
])('an event trigger of a login, $body: $verdict', ({ body, verdict }) => {
  const eventTriggers = [{ name: 'e', body: undefined, atLogin: body }];
  const facts = { eventTriggers, ...relations({ unlogged: ['public."The Log"'] }) };
  expect(short(eventTriggersCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a trigger that fires where changes are applied blocks when it has effects', () => {
  const judged = (acts: boolean, unlogged = false) =>
    short(
      alwaysTriggersCheck.evaluate(
        { applyTriggers: [{ table: 'public.t', name: 'audit', always: true, acts, unlogged }] },
        'd1',
        sourceFacts(),
        preflightOptions(),
      ),
    );
  expect(judged(false)).toBe('warn');
  expect(judged(true)).toBe('fail continuous');
  expect(judged(true, true)).toBe('warn');
});

test('remains of a rebuild are dropped, and every other index is built again', () => {
  const invalidIndexes = [
    index,
    { ...index, name: 'public.i_ccnew1' },
    { ...index, name: 'public."I x_ccold"' },
    { ...index, name: 'public.e', exclusion: true },
  ];
  expect(invalidIndexCheck.evaluate({ invalidIndexes }, 'd1', sourceFacts(), preflightOptions()).fix?.sql).toEqual([
    'REINDEX INDEX CONCURRENTLY public.i',
    expect.stringMatching(/^DO 'BEGIN IF EXISTS .* THEN DROP INDEX public\.i_ccnew1; END IF; END'$/),
    expect.stringMatching(/^DO 'BEGIN IF EXISTS .* THEN DROP INDEX public\."I x_ccold"; END IF; END'$/),
    'REINDEX INDEX public.e',
  ]);
  const old = sourceFacts({ connection: connected({ version: 110_022 }) });
  expect(invalidIndexCheck.evaluate({ invalidIndexes: [index] }, 'd1', old, preflightOptions()).fix?.sql).toEqual([
    'REINDEX INDEX public.i',
  ]);
});

test('an index at which somebody works just now is left alone', () => {
  const invalidIndexes = [
    { ...index, busy: true },
    { ...index, name: 'public.i_ccnew', busy: true },
  ];
  const { fix } = invalidIndexCheck.evaluate({ invalidIndexes }, 'd1', sourceFacts(), preflightOptions());
  expect(fix?.sql).toBeUndefined();
  expect(fix?.text).toContain('left alone (ask again when it is done): public.i, public.i_ccnew.');
});

test('a unique index is built by no statement, since duplicates would end the script', () => {
  const invalidIndexes = [
    { ...index, name: 'public.u', unique: true },
    { ...index, name: 'public.u_ccnew', unique: true },
    index,
  ];
  const judged = (only: typeof invalidIndexes) =>
    invalidIndexCheck.evaluate({ invalidIndexes: only }, 'd1', sourceFacts(), preflightOptions());
  const { fix, detail } = judged(invalidIndexes);
  expect(fix?.sql).toEqual([
    expect.stringContaining('DROP INDEX public.u_ccnew'),
    'REINDEX INDEX CONCURRENTLY public.i',
  ]);
  expect(fix?.text).toContain('remove them and REINDEX, or DROP INDEX (public.u).');
  expect(detail).toContain('left out on the target');
  expect(judged(invalidIndexes.slice(0, 1)).fix?.sql).toBeUndefined();
  expect(judged([index]).fix?.text).not.toContain('unique');
});

test('a tablespace is named, of the database itself too', () => {
  const tablespaces = { names: new Map([['16400', 'Fast Disk']]), databases: new Map([['d2', 'Fast Disk']]) };
  const placed = [{ name: 'public.t', tablespace: '16400' }];
  const judge = (database: string, there = placed) =>
    tablespacesCheck.evaluate(
      { ...relations({ placed: there }), tablespaces },
      database,
      sourceFacts(),
      preflightOptions(),
    );
  expect(judge('d1')).toMatchObject({ status: 'warn', observed: 'Fast Disk', objects: ['public.t (Fast Disk)'] });
  expect(judge('d2', []).status).toBe('warn');
  expect(judge('d1', []).status).toBe('pass');
});

const closed = [
  { kind: 'table', name: '"S x".t', schema: '"S x"', usage: false, select: true },
  { kind: 'table', name: 'public.u', schema: 'public', usage: true, select: false },
  { kind: 'sequence', name: 'public.s', schema: 'public', usage: true, select: false },
] as const;

function denied(
  version: number,
  closedLargeObjects: readonly string[] = [],
  more: Partial<MigrationRole> = {},
): CheckOutcome {
  const where = sourceFacts({ username: 'a "b', connection: connected({ version, superuser: false }) });
  const facts = { closed: { objects: closed, tables: 2, sequences: 1 }, closedLargeObjects, role: role(more) };
  return dumpPrivsCheck.evaluate(facts, 'd1', where, preflightOptions());
}

test('what the role may not read blocks the dump, in the words that pg_dump will use', () => {
  expect(denied(170_010)).toMatchObject({
    status: 'fail',
    blocks: ['dump'],
    observed: 'not 2 tables, 1 sequence',
    objects: ['"S x".t (no USAGE on its schema)', 'public.u', 'sequence public.s'],
  });
  expect(denied(170_010).detail).toContain('permission denied for schema "S x"');
});

test('since 14 one role reads everything but large objects; before it each grant stands by itself', () => {
  expect(denied(140_023).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b"'],
    undo: ['REVOKE pg_read_all_data FROM "a ""b"'],
  });
  expect(denied(140_023).fix?.database).toBeUndefined();
  expect(denied(140_023, ['55']).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b"', 'GRANT SELECT ON LARGE OBJECT 55 TO "a ""b"'],
    database: 'd1',
  });
  expect(denied(130_023).fix).toMatchObject({
    sql: [
      'GRANT USAGE ON SCHEMA "S x" TO "a ""b"',
      'GRANT SELECT ON TABLE public.u TO "a ""b"',
      'GRANT SELECT ON SEQUENCE public.s TO "a ""b"',
    ],
    undo: [
      'REVOKE USAGE ON SCHEMA "S x" FROM "a ""b"',
      'REVOKE SELECT ON TABLE public.u FROM "a ""b"',
      'REVOKE SELECT ON SEQUENCE public.s FROM "a ""b"',
    ],
  });
});

test('a membership that is not inherited counts for nothing: the cure makes it count, and its undo leaves it where it was', () => {
  const member = { inherits: false, memberOf: ['a "b', 'pg_read_all_data'] };
  expect(denied(170_010, [], member).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b" WITH INHERIT TRUE'],
    undo: ['GRANT pg_read_all_data TO "a ""b" WITH INHERIT FALSE'],
  });
  expect(denied(150_018, [], member).fix).toMatchObject({
    sql: ['ALTER ROLE "a ""b" INHERIT'],
    undo: ['ALTER ROLE "a ""b" NOINHERIT'],
  });
  expect(denied(150_018, [], { inherits: false }).fix).toMatchObject({
    sql: ['ALTER ROLE "a ""b" INHERIT', 'GRANT pg_read_all_data TO "a ""b"'],
    undo: ['REVOKE pg_read_all_data FROM "a ""b"', 'ALTER ROLE "a ""b" NOINHERIT'],
  });
});

test('a role that may read everything passes', () => {
  const nothing = { objects: [], tables: 0, sequences: 0 };
  expect(
    dumpPrivsCheck.evaluate(
      { closed: nothing, closedLargeObjects: [], role: role() },
      'd1',
      sourceFacts(),
      preflightOptions(),
    ),
  ).toMatchObject({
    status: 'pass',
    observed: 'superuser',
  });
});

test('BYPASSRLS is given and taken back', () => {
  const facts = relations({ secured: [{ name: 'public.t', forced: true }] });
  expect(rlsCheck.evaluate(facts, 'd1', sourceFacts({ username: 'My"Role' }), preflightOptions()).fix).toMatchObject({
    sql: ['ALTER ROLE "My""Role" BYPASSRLS'],
    undo: ['ALTER ROLE "My""Role" NOBYPASSRLS'],
  });
});

test('what is counted up to a limit says so', () => {
  expect(largeObjectsCheck.evaluate({ largeObjects: 100_001 }, 'd1', sourceFacts(), preflightOptions()).observed).toBe(
    'more than 100000 large objects',
  );
});
