import { watchLimits } from '../../../../src/db/watch/limits.ts';
import type {
  DatabaseFacts,
  ServerFacts,
  SettingFacts,
  SlotFacts,
  TableStatistics,
  WalSender,
} from '../../../../src/db/watch/postgresql/facts.ts';
import type { RuleDatabase, RuleInput, TrackedSlot } from '../../../../src/db/watch/postgresql/rule.ts';

/** A healthy server with the slot `s` of the database `shop`; a test tells what is otherwise. */
export function makeServerFacts(more: Partial<ServerFacts> = {}): ServerFacts {
  return {
    at: 0,
    version: 170_000,
    startedAt: 'Monday',
    inRecovery: false,
    walPosition: 1000,
    slots: [makeSlot()],
    senders: [makeWalSender()],
    copies: [],
    dumps: [],
    settings: new Map([
      ['wal_level', makeSetting('logical')],
      ['max_replication_slots', makeSetting('10')],
      ['max_wal_senders', makeSetting('10')],
      ['listen_addresses', makeSetting('*')],
      ['ssl', makeSetting('on')],
    ]),
    hbaRuleLines: ['host all all 0.0.0.0/0 scram-sha-256'],
    role: {
      name: 'mover',
      superuser: true,
      replication: true,
      login: true,
      secondsLeft: undefined,
      revision: '1',
      timeouts: [],
    },
    databases: [{ name: 'shop', commits: 1000, rollbacks: 1 }],
    blocked: { commits: 0, seconds: 0 },
    denied: [],
    connection: { addresses: '10.0.0.1', certificate: 'a', refused: undefined },
    ...more,
  };
}

export function makeSlot(more: Partial<SlotFacts> = {}): SlotFacts {
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
    safeWalBytes: undefined,
    inactiveSince: undefined,
    invalidated: undefined,
    decoded: 0,
    ...more,
  };
}

export function makeWalSender(more: Partial<WalSender> = {}): WalSender {
  return {
    pid: 7,
    database: 'shop',
    application: 'sub',
    state: 'streaming',
    address: '10.0.0.9',
    command: `START_REPLICATION SLOT "s" LOGICAL 0/0 (proto_version '4', publication_names '"p"')`,
    replyAge: 1,
    ...more,
  };
}

export function makeSetting(value: string, more: Partial<SettingFacts> = {}): SettingFacts {
  return { value, pendingRestart: false, inFile: undefined, ...more };
}

/** The settings of a healthy server with one that is otherwise. */
export function settingsWith(name: string, other: SettingFacts): ServerFacts['settings'] {
  return new Map([...makeServerFacts().settings, [name, other]]);
}

export function makeTable(more: Partial<TableStatistics> = {}): TableStatistics {
  return { oid: 1, name: 'public.t', seqScans: 0, seqRows: 0, rows: 100, changed: 0, inserted: 100, ...more };
}

export function makeDatabaseFacts(more: Partial<DatabaseFacts> = {}): DatabaseFacts {
  return {
    name: 'shop',
    tables: [makeTable()],
    publications: new Map([['p', 'all']]),
    shapes: undefined,
    sizes: new Map([[1, 1000]]),
    columns: new Map(),
    denied: [],
    ...more,
  };
}

/** What rules are handed: `window` from first to last, which is now. */
export function makeRuleInput(
  window: readonly ServerFacts[],
  more: Partial<RuleInput> & { readonly ours?: Partial<TrackedSlot> } = {},
): RuleInput {
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
        missedPolls: 0,
        wasActive: true,
        ...ours,
      },
    ],
    databases: [makeSeenDatabase()],
    limits: watchLimits,
    warned: [],
    cluster: undefined,
    startedAt: undefined,
    ...rest,
  };
}

export function makeSeenDatabase(more: Partial<RuleDatabase> = {}): RuleDatabase {
  return {
    name: 'shop',
    now: makeDatabaseFacts(),
    publications: new Map([['p', 'all']]),
    publicationsRead: ['p'],
    otherPublications: undefined,
    subscription: 'sub',
    pendingTables: [],
    shapes: undefined,
    ...more,
  };
}

/** A look every second; `make` tells what is otherwise in each. */
export function makeWindow(count: number, make: (at: number) => Partial<ServerFacts>): readonly ServerFacts[] {
  return Array.from({ length: count }, (_, at) => makeServerFacts({ at: at * 1000, ...make(at) }));
}
