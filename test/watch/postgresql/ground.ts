import { usual } from '../../../src/watch/limits.ts';
import type { DatabaseFacts, Sender, ServerFacts, Setting, Slot, Table } from '../../../src/watch/postgresql/facts.ts';
import type { DatabaseSeen, OurSlot, Seen } from '../../../src/watch/postgresql/seen.ts';

/** A healthy server with the slot `s` of the database `shop`; a test tells what is otherwise. */
export function serverFacts(more: Partial<ServerFacts> = {}): ServerFacts {
  return {
    at: 0,
    version: 170_000,
    startedAt: 'Monday',
    inRecovery: false,
    position: 1000,
    slots: [slot()],
    senders: [sender()],
    copies: [],
    dumps: [],
    settings: new Map([
      ['wal_level', setting('logical')],
      ['max_replication_slots', setting('10')],
      ['max_wal_senders', setting('10')],
      ['listen_addresses', setting('*')],
      ['ssl', setting('on')],
    ]),
    hostRules: 'hash',
    role: {
      name: 'mover',
      superuser: true,
      replication: true,
      login: true,
      secondsLeft: undefined,
      revision: '1',
    },
    databases: [{ name: 'shop', commits: 1000, rollbacks: 1 }],
    blocked: { commits: 0, seconds: 0 },
    denied: [],
    door: { addresses: '10.0.0.1', certificate: 'a', refused: undefined },
    ...more,
  };
}

export function slot(more: Partial<Slot> = {}): Slot {
  return {
    name: 's',
    plugin: 'pgoutput',
    database: 'shop',
    temporary: false,
    active: true,
    pid: 7,
    flushed: 1000,
    retained: 100,
    walStatus: 'reserved',
    safe: undefined,
    inactiveSince: undefined,
    invalidated: undefined,
    decoded: 0,
    ...more,
  };
}

export function sender(more: Partial<Sender> = {}): Sender {
  return {
    pid: 7,
    database: 'shop',
    application: 'sub',
    state: 'streaming',
    address: '10.0.0.9',
    command: `START_REPLICATION SLOT "s" LOGICAL 0/0 (proto_version '4', publication_names '"p"')`,
    ...more,
  };
}

export function setting(value: string, more: Partial<Setting> = {}): Setting {
  return { value, pendingRestart: false, inFile: undefined, ...more };
}

/** The settings of a healthy server with one that is otherwise. */
export function settingsWith(name: string, other: Setting): ServerFacts['settings'] {
  return new Map([...serverFacts().settings, [name, other]]);
}

export function table(more: Partial<Table> = {}): Table {
  return { oid: 1, name: 'public.t', seqScans: 0, seqRows: 0, rows: 100, changed: 0, ...more };
}

export function databaseFacts(more: Partial<DatabaseFacts> = {}): DatabaseFacts {
  return {
    name: 'shop',
    tables: [table()],
    publications: new Map([['p', 'all']]),
    shapes: undefined,
    sizes: new Map([[1, 1000]]),
    denied: [],
    ...more,
  };
}

/** What rules are handed: `window` from first to last, which is now. */
export function seen(
  window: readonly ServerFacts[],
  more: Partial<Seen> & { readonly ours?: Partial<OurSlot> } = {},
): Seen {
  const { ours, ...rest } = more;
  const now = window.at(-1)!;
  return {
    now,
    first: window[0]!,
    window,
    slots: [
      {
        name: 's',
        database: 'shop',
        slot: now.slots.find(({ name }) => name === 's'),
        missing: 0,
        wasActive: true,
        ...ours,
      },
    ],
    databases: [databaseSeen()],
    limits: usual,
    warned: [],
    ...rest,
  };
}

export function databaseSeen(more: Partial<DatabaseSeen> = {}): DatabaseSeen {
  return {
    name: 'shop',
    now: databaseFacts(),
    publications: new Map([['p', 'all']]),
    read: ['p'],
    shapes: undefined,
    ...more,
  };
}

/** A look every second; `make` tells what is otherwise in each. */
export function every(count: number, make: (at: number) => Partial<ServerFacts>): readonly ServerFacts[] {
  return Array.from({ length: count }, (_, at) => serverFacts({ at: at * 1000, ...make(at) }));
}
