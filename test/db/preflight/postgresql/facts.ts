import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import type { DatabaseScan } from '../../../../src/db/preflight/postgresql/deep/results.ts';
import type { PostgresqlDatabase } from '../../../../src/db/preflight/postgresql/queries/cluster.ts';
import {
  type FeatureOverview,
  featuresQuery,
} from '../../../../src/db/preflight/postgresql/queries/database-overview.ts';
import type { ReplicationSlot } from '../../../../src/db/preflight/postgresql/queries/replication.ts';
import type { MigrationRole } from '../../../../src/db/preflight/postgresql/queries/roles.ts';
import type { ServerSetting, ServerSettings } from '../../../../src/db/preflight/postgresql/queries/settings.ts';
import type {
  CopySize,
  PostgresqlConnectionResult,
  PostgresqlFacts,
} from '../../../../src/db/preflight/postgresql/source-facts.ts';
import type { PostgresqlTarget } from '../../../../src/db/preflight/postgresql/target.ts';

/** A healthy way in: two databases, a superuser, everything reached by a public address. */
export function sourceFacts(
  more: Partial<PostgresqlFacts> & { readonly entry?: PostgresqlConnectionResult } = {},
): PostgresqlFacts {
  return {
    dbname: 'd1',
    username: 'migrator',
    address: {
      host: 'db.example.com',
      port: 5432,
      kind: 'name',
      contradictions: [],
      lookup: { kind: 'found', addresses: ['198.51.100.7'] },
      dns4: { kind: 'found', addresses: ['198.51.100.7'] },
      dns6: { kind: 'failed', code: 'ENODATA', reason: 'there is none' },
      connects: [{ address: '198.51.100.7', took: 3 }],
    },
    tls: { offered: 'yes', version: 'TLSv1.3' },
    connection: connected(),
    databases: ['d1', 'postgres'],
    access: new Map([
      ['d1', { kind: 'entered' }],
      ['postgres', { kind: 'entered' }],
    ]),
    copy: copy(),
    walRate: { bytes: 0, seconds: 5 },
    replication: { kind: 'entered' },
    ...more,
  };
}

export function connected(
  more: Partial<Extract<PostgresqlConnectionResult, { readonly kind: 'entered' }>> = {},
): Extract<PostgresqlConnectionResult, { readonly kind: 'entered' }> {
  return {
    kind: 'entered',
    version: 170_010,
    versionText: 'PostgreSQL 17.10',
    inRecovery: false,
    superuser: true,
    pooler: undefined,
    startupRefusal: undefined,
    ssl: true,
    authentication: 'scram-sha-256',
    serverPort: 5432,
    ...more,
  };
}

/** One table a database, of so many bytes. */
export function copy(bytes = 0, databases: readonly string[] = ['d1', 'postgres']): CopySize {
  const largest = { table: 'public.t', bytes };
  return {
    bytes: bytes * databases.length,
    tables: databases.length,
    largest: { database: databases[0] ?? '', ...largest },
    perDatabase: new Map(databases.map((name) => [name, { bytes, tables: 1, largest, locks: { schema: 1, all: 1 } }])),
    unseen: [],
  };
}

export function preflightOptions(more: Partial<PreflightOptions> = {}): PreflightOptions {
  return {
    method: 'continuous',
    targetVersion: undefined,
    targetExtensions: undefined,
    target: undefined,
    ignoreDbs: [],
    disableSsl: false,
    isOverInternet: true,
    sourceDiskFree: undefined,
    accept: [],
    strict: false,
    probe: false,
    now: Date.UTC(2026, 10, 20),
    ...more,
  };
}

/** A target of version 17 whose login is a superuser; it has a plain PostgreSQL without extensions. */
export function postgresqlTarget(more: Partial<PostgresqlTarget> = {}): PostgresqlTarget {
  return {
    version: 170_010,
    login: 'doadmin',
    isSuperuser: true,
    mayCreateDatabases: true,
    mayCreateRoles: true,
    maySubscribe: true,
    bypassesRls: true,
    isManaged: false,
    extensions: new Map(),
    languages: new Set(['c', 'internal', 'plpgsql', 'sql']),
    locales: new Set(['C', 'POSIX']),
    timeZones: new Set(['utc']),
    roles: new Set(['doadmin']),
    databases: new Set(['postgres']),
    settings: new Map(),
    subscriptions: 0,
    ...more,
  };
}

export function settings(values: Readonly<Record<string, string | Partial<ServerSetting>>>): ServerSettings {
  return new Map(
    Object.entries(values).map(([name, given]) => [
      name,
      {
        value: '',
        unit: undefined,
        context: 'postmaster',
        pendingRestart: false,
        source: 'configuration file',
        file: '/data/postgresql.conf',
        ...(typeof given === 'string' ? { value: given } : given),
      },
    ]),
  );
}

export function role(more: Partial<MigrationRole> = {}): MigrationRole {
  return {
    name: 'migrator',
    superuser: true,
    replication: true,
    bypassRls: true,
    inherits: true,
    connectionLimit: -1,
    secondsLeft: undefined,
    validUntil: '',
    memberOf: ['migrator'],
    ...more,
  };
}

export function slot(more: Partial<ReplicationSlot> = {}): ReplicationSlot {
  return {
    name: 's1',
    kind: 'logical',
    plugin: 'pgoutput',
    database: 'd1',
    active: true,
    temporary: false,
    retained: 0,
    walStatus: 'reserved',
    ...more,
  };
}

export function slots(count: number, more: Partial<ReplicationSlot> = {}): readonly ReplicationSlot[] {
  return Array.from({ length: count }, (_, at) => slot({ name: `s${at}`, ...more }));
}

/** A database whose rows were all read, without a fault unless told. */
export function scannedDatabase(more: Partial<DatabaseScan> = {}): DatabaseScan {
  return {
    encoding: 'UTF8',
    failure: undefined,
    ...{ tables: 12, rows: 3000, bytes: 1_234_567, comparedKeys: 7 },
    longestRow: { table: 'public.t', bytes: 5000 },
    longestSnapshot: { table: 'public.t', milliseconds: 1200 },
    ...{
      unread: [],
      invalid: [],
      tested: [],
      comparedForeignKeys: 0,
      orphans: [],
      uncomparedForeignKeys: [],
      duplicates: [],
      unchecked: [],
    },
    ...more,
  };
}

/** Facts and options of a run with `--deep`, for checks of the database `d1`. */
export function deepRun(more?: Partial<DatabaseScan>): readonly [PostgresqlFacts, PreflightOptions] {
  const scans = new Map(more === undefined ? [] : [['d1', scannedDatabase(more)] as const]);
  return [sourceFacts({ scans }), preflightOptions({ deep: { bytesPerSecond: 1e6, timeout: undefined } })];
}

/** What a table test compares. */
export function short({ status, blocks }: { readonly status: string; readonly blocks: readonly string[] }): string {
  return blocks.length === 0 ? status : `${status} ${blocks.join('+')}`;
}

export function database(name: string, more: Partial<PostgresqlDatabase> = {}): PostgresqlDatabase {
  return {
    name,
    allowsConnections: true,
    template: false,
    connectionLimit: -1,
    encoding: 'UTF8',
    collate: 'C',
    ctype: 'C',
    provider: 'c',
    locale: undefined,
    collationVersion: undefined,
    libraryVersion: undefined,
    mayConnect: true,
    length: name.length,
    ...more,
  };
}

/** Of a database with nothing in it but what is told. */
export function overviewOf(more: Partial<FeatureOverview> = {}): FeatureOverview {
  return { ...featuresQuery.absent, ...more };
}
