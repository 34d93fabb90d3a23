import type { Identity } from '../identity.ts';
import type { WatchLimits } from '../limits.ts';
import { overallPercent, type WatchPhase } from '../sample.ts';
import type { DatabaseFacts, ServerFacts, SlotFacts } from './facts.ts';
import { isTableSyncSender, isTableSyncSlot, publicationsOf, senderOfSlot } from './slots.ts';
import type { DatabaseWatch } from './state.ts';
import { markAllCopied, sumTableBytes, trackDefinitions, updateTables } from './tables.ts';

interface WatchedDatabasePoll {
  readonly server: ServerFacts;
  /** The facts of this poll; undefined if the database was not read. */
  readonly facts: DatabaseFacts | undefined;
  /** The replication slot of the migration in this database. */
  readonly slot: SlotFacts | undefined;
  readonly identity: Identity | undefined;
  /** The system identifier of the target, if it was seen beside the slot. */
  readonly system: string | undefined;
  /** Whether no earlier poll found this slot. */
  readonly isNewSlot: boolean;
  /** The object that the previous poll reported as the cause. */
  readonly blamed: string | undefined;
  readonly limits: WatchLimits;
}

/** The tracking state of one database after a poll. */
export function foldDatabase(previous: DatabaseWatch, poll: WatchedDatabasePoll): DatabaseWatch {
  const { server, slot, limits } = poll;
  const { at } = server;
  const facts = poll.facts ?? previous.facts;
  const isFirst = slot !== undefined && previous.slot !== slot.name;
  const active = slot?.active === true;
  const activeAt = isFirst ? (active ? at : undefined) : (previous.firstActiveAt ?? (active ? at : undefined));
  const busy = isCopySeen(previous.name, server);
  const copiedAt = busy ? at : previous.lastCopyAt;
  const fresh = isFirst ? poll.isNewSlot : previous.slotAppeared;
  const tables =
    poll.facts === undefined
      ? previous.tables
      : updateTables(previous.tables, {
          tables: poll.facts.tables,
          sizes: poll.facts.sizes,
          copies: copiesOf(previous.name, server),
          copying: copiedAt !== undefined,
        });
  const sender = slot === undefined ? undefined : senderOfSlot(slot, server.senders);
  const applied = slot?.flushed;
  const written = confirmedWrites(previous, server, poll.facts, applied);
  const read = sender === undefined ? [] : publicationsOf(sender.command);
  const next: DatabaseWatch = {
    ...previous,
    facts,
    publications: previous.publications ?? poll.facts?.publications,
    publicationsRead: read.length > 0 ? read : previous.publicationsRead,
    shapes:
      poll.facts === undefined
        ? previous.shapes
        : trackDefinitions(previous.shapes, {
            facts: poll.facts,
            walPosition: server.walPosition,
            applied,
            blamed: poll.blamed,
          }),
    subscription:
      (sender !== undefined && !isTableSyncSender(sender) ? sender.application : '') || previous.subscription,
    ...written,
    tables,
    slot: slot?.name ?? previous.slot,
    identity: poll.identity,
    system: poll.system ?? previous.system,
    missedPolls: slot === undefined && previous.slot !== undefined ? previous.missedPolls + 1 : 0,
    firstActiveAt: activeAt,
    lastCopyAt: copiedAt,
    slotAppeared: fresh,
    copyFinished: isFirst ? false : previous.copyFinished,
    peakLag: isFirst ? 0 : previous.peakLag,
  };
  if (slot === undefined || activeAt === undefined || isCopying(next, at, limits)) return next;
  const lag = slotLagBytes(slot, server);
  return {
    ...next,
    copyFinished: true,
    tables: markAllCopied(tables),
    peakLag: Math.max(next.peakLag, lag),
  };
}

/**
 * The phase of one database after a poll.
 * @param stopped whether a rule is violated whose violation stops the replication of the database
 */
export function databasePhase(
  state: DatabaseWatch,
  server: ServerFacts,
  stopped: boolean,
  limits: WatchLimits,
): WatchPhase {
  const slot = server.slots.find(({ name }) => name === state.slot);
  return decidePhase({
    slot: slot === undefined ? undefined : { active: slot.active, lag: slotLagBytes(slot, server) },
    hadSlot: state.slot !== undefined,
    wasActive: state.firstActiveAt !== undefined,
    copying: isCopying(state, server.at, limits),
    dumped: server.dumps.includes(state.name),
    sender: slot === undefined ? undefined : senderOfSlot(slot, server.senders)?.state,
    stopped,
    streamingLag: limits.streamingLag,
  });
}

export function databasePercent(state: DatabaseWatch, phase: WatchPhase, lag: number): number {
  const { done, total } = sumTableBytes(state.tables, state.facts?.tables ?? []);
  // A stop that the first poll of a watch finds has no percentage from before it.
  const isFirst = phase === 'stalled' && state.percent === 0;
  return overallPercent(
    isFirst ? (done < total ? 'copying' : 'catching_up') : phase,
    total === 0 ? 0 : done / total,
    state.peakLag === 0 ? 1 : 1 - lag / state.peakLag,
    state.percent,
  );
}

/**
 * True while tables are copied, for a short time afterwards, and after a new slot became active until its copy had time
 * to start.
 */
export function isCopying(
  { lastCopyAt, firstActiveAt, slotAppeared, copyFinished, tables }: DatabaseWatch,
  at: number,
  limits: WatchLimits,
): boolean {
  const isRecent = (then: number | undefined) => then !== undefined && at - then < limits.copyPause;
  const left = [...tables.values()].some(({ state, bytes }) => state !== 'done' && bytes > 0);
  if (isRecent(lastCopyAt)) return left || at === lastCopyAt;
  return slotAppeared && !copyFinished && left && isRecent(firstActiveAt);
}

/**
 * The write counters of a poll count as confirmed when the target has confirmed the end of the WAL at the next poll. A poll
 * reads the WAL position before the counters, so its counters may include rows after that position.
 */
function confirmedWrites(
  { writtenWhenConfirmed, unconfirmedWrites }: DatabaseWatch,
  { walPosition }: ServerFacts,
  facts: DatabaseFacts | undefined,
  applied: number | undefined,
): Pick<DatabaseWatch, 'writtenWhenConfirmed' | 'unconfirmedWrites'> {
  if (facts === undefined || walPosition === undefined) return { writtenWhenConfirmed, unconfirmedWrites };
  const current = { position: undefined, rows: writtenRows(facts) };
  const waiting =
    unconfirmedWrites === undefined
      ? undefined
      : { ...unconfirmedWrites, position: unconfirmedWrites.position ?? walPosition };
  const isConfirmed = waiting !== undefined && applied !== undefined && applied >= waiting.position;
  return {
    // Without a baseline, what was written before the first poll is not known.
    writtenWhenConfirmed: isConfirmed ? waiting.rows : (writtenWhenConfirmed ?? current.rows),
    unconfirmedWrites: waiting === undefined || isConfirmed ? current : waiting,
  };
}

/**
 * Tables to which, according to the statistics of the source, rows were written since the target last confirmed
 * something.
 */
export function unconfirmedTables({ facts, writtenWhenConfirmed: before }: DatabaseWatch): readonly string[] {
  if (facts === undefined || before === undefined) return [];
  return [...writtenRows(facts)].filter(([name, rows]) => rows > (before.get(name) ?? 0)).map(([name]) => name);
}

function writtenRows({ tables }: DatabaseFacts): ReadonlyMap<string, number> {
  return new Map(tables.map(({ name, inserted, changed }) => [name, inserted + changed]));
}

/** Bytes of WAL that the target has not confirmed. */
export function slotLagBytes(slot: SlotFacts, { walPosition }: ServerFacts): number {
  return walPosition === undefined || slot.flushed === undefined ? 0 : Math.max(0, walPosition - slot.flushed);
}

function isCopySeen(database: string, server: ServerFacts): boolean {
  return (
    copiesOf(database, server).length > 0 ||
    server.senders.some((sender) => sender.database === database && isTableSyncSender(sender)) ||
    server.slots.some((slot) => slot.database === database && isTableSyncSlot(slot))
  );
}

/** COPY statements of the migration and of pg_dump, without those of the application. */
function copiesOf(database: string, { copies, senders }: ServerFacts) {
  const pids = new Set(senders.map(({ pid }) => pid));
  return copies.filter((copy) => copy.database === database && (copy.dump || pids.has(copy.pid)));
}

/** The facts from which the phase of one database follows. */
export interface PhaseInput {
  /** The replication slot; undefined if it does not exist. */
  readonly slot: { readonly active: boolean; readonly lag: number } | undefined;
  /** Whether this or an earlier poll found a slot of the migration in the database. */
  readonly hadSlot: boolean;
  /** Whether the target was connected to the slot in this or an earlier poll. */
  readonly wasActive: boolean;
  /** Whether the initial copy is running. */
  readonly copying: boolean;
  /** Whether pg_dump is reading the database. */
  readonly dumped: boolean;
  /** `pg_stat_replication.state`; undefined without a WAL sender. */
  readonly sender: string | undefined;
  /** Whether a rule is violated whose violation stops replication. */
  readonly stopped: boolean;
  /** Maximum lag in bytes at which the phase is still streaming. */
  readonly streamingLag: number;
}

export function decidePhase(input: PhaseInput): WatchPhase {
  const { slot } = input;
  if (slot === undefined) return input.hadSlot ? 'stalled' : input.dumped ? 'copying' : 'waiting';
  if (input.stopped) return 'stalled';
  if (!input.wasActive && !input.copying) return 'waiting';
  if (input.copying) return 'copying';
  // The phase is not streaming while the consumer is disconnected and has unconfirmed changes.
  const follows = slot.active || slot.lag === 0;
  return follows && slot.lag <= input.streamingLag && input.sender !== 'catchup' ? 'streaming' : 'catching_up';
}

/**
 * The phase of all databases together: `stalled` if one database is stalled, otherwise the phase of the least advanced
 * database. Databases that wait count only if others are streaming.
 */
export function combinePhases(phases: readonly WatchPhase[]): WatchPhase {
  const order: readonly WatchPhase[] = ['stalled', 'loading', 'copying', 'catching_up', 'streaming', 'waiting', 'gone'];
  const found = order.find((phase) => phases.includes(phase)) ?? 'waiting';
  // A database without a started copy will still be copied, so the migration as a whole is not streaming yet.
  return found === 'streaming' && phases.includes('waiting') ? 'copying' : found;
}
