import type { Database } from '../../../src/preflight/postgresql/asks/databases.ts';
import { type Overview, overview } from '../../../src/preflight/postgresql/asks/overview.ts';
import type { Role } from '../../../src/preflight/postgresql/asks/role.ts';
import type { Setting, Settings } from '../../../src/preflight/postgresql/asks/settings.ts';
import type { Slot } from '../../../src/preflight/postgresql/asks/slots.ts';
import type { Copy, Entry, Ground } from '../../../src/preflight/postgresql/ground.ts';
import type { Wish } from '../../../src/preflight/wish.ts';

/** A healthy way in: two databases, a superuser, everything reached by a public address. */
export function ground(more: Partial<Ground> & { readonly entry?: Entry } = {}): Ground {
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
    entry: entered(),
    databases: ['d1', 'postgres'],
    reach: new Map([
      ['d1', { kind: 'entered', direct: true }],
      ['postgres', { kind: 'entered', direct: true }],
    ]),
    copy: copy(),
    walRate: { bytes: 0, seconds: 5 },
    replication: { kind: 'entered' },
    ...more,
  };
}

export function entered(
  more: Partial<Extract<Entry, { readonly kind: 'entered' }>> = {},
): Extract<Entry, { readonly kind: 'entered' }> {
  return {
    kind: 'entered',
    version: 170_010,
    versionText: 'PostgreSQL 17.10',
    inRecovery: false,
    superuser: true,
    pooler: undefined,
    ssl: true,
    passwordAsked: true,
    serverPort: 5432,
    ...more,
  };
}

/** One table a database, of so many bytes. */
export function copy(bytes = 0, databases: readonly string[] = ['d1', 'postgres']): Copy {
  const largest = { table: 'public.t', bytes };
  return {
    bytes: bytes * databases.length,
    tables: databases.length,
    largest: { database: databases[0] ?? '', ...largest },
    perDatabase: new Map(databases.map((name) => [name, { bytes, tables: 1, largest }])),
    unseen: [],
  };
}

export function wish(more: Partial<Wish> = {}): Wish {
  return {
    method: 'continuous',
    targetVersion: undefined,
    targetExtensions: undefined,
    target: undefined,
    ignoreDbs: [],
    disableSsl: false,
    asPublic: true,
    sourceDiskFree: undefined,
    accept: [],
    strict: false,
    probe: false,
    now: Date.UTC(2026, 10, 20),
    ...more,
  };
}

export function settings(values: Readonly<Record<string, string | Partial<Setting>>>): Settings {
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

export function role(more: Partial<Role> = {}): Role {
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

export function slot(more: Partial<Slot> = {}): Slot {
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

export function slots(count: number, more: Partial<Slot> = {}): readonly Slot[] {
  return Array.from({ length: count }, (_, at) => slot({ name: `s${at}`, ...more }));
}

/** What a table test compares. */
export function short({ status, blocks }: { readonly status: string; readonly blocks: readonly string[] }): string {
  return blocks.length === 0 ? status : `${status} ${blocks.join('+')}`;
}

export function database(name: string, more: Partial<Database> = {}): Database {
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
    plain: true,
    ...more,
  };
}

/** Of a database with nothing in it but what is told. */
export function overviewOf(more: Partial<Overview> = {}): Overview {
  return { ...overview.absent, ...more };
}
