import { computeOverallMigrationPercent } from '../compute-overall-migration-percent.ts';
import type { Identity } from '../identity.ts';
import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import type { MigrationWatchPhase } from '../status-sample.ts';
import {
  findWalSenderOfSlot,
  isTableSyncSender,
  isTableSyncSlot,
  parsePublicationsOfReplicationCommand,
} from './choose-slots.ts';
import { decideWatchedDatabasePhase } from './decide-phase.ts';
import type { WatchedDatabaseFacts, WatchedServerFacts, WatchedSlot } from './server-facts.ts';
import { trackTableDefinitionChanges } from './track-table-definition-changes.ts';
import { markAllWatchedTablesCopied, sumCopiedAndTotalTableBytes, updateWatchedTableStates } from './track-tables.ts';
import type { WatchedDatabaseState } from './tracking-state.ts';

export interface WatchedDatabasePoll {
  readonly server: WatchedServerFacts;
  /** The facts of this poll; undefined if the database was not read. */
  readonly facts: WatchedDatabaseFacts | undefined;
  /** The replication slot of the migration in this database. */
  readonly slot: WatchedSlot | undefined;
  readonly identity: Identity | undefined;
  /** The system identifier of the target, if it was seen beside the slot. */
  readonly system: string | undefined;
  /** Whether no earlier poll found this slot. */
  readonly isNewSlot: boolean;
  /** The object that the previous poll reported as the cause. */
  readonly blamed: string | undefined;
  readonly limits: MigrationWatchLimits;
}

/** The tracking state of one database after a poll. */
export function updateWatchedDatabaseState(
  previous: WatchedDatabaseState,
  poll: WatchedDatabasePoll,
): WatchedDatabaseState {
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
      : updateWatchedTableStates(previous.tables, {
          tables: poll.facts.tables,
          sizes: poll.facts.sizes,
          copies: copiesOf(previous.name, server),
          copying: copiedAt !== undefined,
        });
  const sender = slot === undefined ? undefined : findWalSenderOfSlot(slot, server.senders);
  const applied = slot?.flushed;
  const written = confirmedWrites(previous, server, poll.facts, applied);
  const read = sender === undefined ? [] : parsePublicationsOfReplicationCommand(sender.command);
  const next: WatchedDatabaseState = {
    ...previous,
    facts,
    publications: previous.publications ?? poll.facts?.publications,
    publicationsRead: read.length > 0 ? read : previous.publicationsRead,
    shapes:
      poll.facts === undefined
        ? previous.shapes
        : trackTableDefinitionChanges(previous.shapes, {
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
  if (slot === undefined || activeAt === undefined || isInitialCopyRunning(next, at, limits)) return next;
  const lag = slotLagBytes(slot, server);
  return {
    ...next,
    copyFinished: true,
    tables: markAllWatchedTablesCopied(tables),
    peakLag: Math.max(next.peakLag, lag),
  };
}

/**
 * The phase of one database after a poll.
 * @param stopped whether a rule is violated whose violation stops the replication of the database
 */
export function getWatchedDatabasePhaseAfterPoll(
  state: WatchedDatabaseState,
  server: WatchedServerFacts,
  stopped: boolean,
  limits: MigrationWatchLimits,
): MigrationWatchPhase {
  const slot = server.slots.find(({ name }) => name === state.slot);
  return decideWatchedDatabasePhase({
    slot: slot === undefined ? undefined : { active: slot.active, lag: slotLagBytes(slot, server) },
    hadSlot: state.slot !== undefined,
    wasActive: state.firstActiveAt !== undefined,
    copying: isInitialCopyRunning(state, server.at, limits),
    dumped: server.dumps.includes(state.name),
    sender: slot === undefined ? undefined : findWalSenderOfSlot(slot, server.senders)?.state,
    stopped,
    streamingLag: limits.streamingLag,
  });
}

export function computeWatchedDatabasePercent(
  state: WatchedDatabaseState,
  phase: MigrationWatchPhase,
  lag: number,
): number {
  const { done, total } = sumCopiedAndTotalTableBytes(state.tables, state.facts?.tables ?? []);
  return computeOverallMigrationPercent(
    phase,
    total === 0 ? 0 : done / total,
    state.peakLag === 0 ? 1 : 1 - lag / state.peakLag,
    state.percent,
  );
}

/**
 * True while tables are copied, for a short time afterwards, and after a new slot became active until its copy had time
 * to start.
 */
export function isInitialCopyRunning(
  { lastCopyAt, firstActiveAt, slotAppeared, copyFinished, tables }: WatchedDatabaseState,
  at: number,
  limits: MigrationWatchLimits,
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
  { writtenWhenConfirmed, unconfirmedWrites }: WatchedDatabaseState,
  { walPosition }: WatchedServerFacts,
  facts: WatchedDatabaseFacts | undefined,
  applied: number | undefined,
): Pick<WatchedDatabaseState, 'writtenWhenConfirmed' | 'unconfirmedWrites'> {
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
export function findTablesWithUnconfirmedWrites({
  facts,
  writtenWhenConfirmed: before,
}: WatchedDatabaseState): readonly string[] {
  if (facts === undefined || before === undefined) return [];
  return [...writtenRows(facts)].filter(([name, rows]) => rows > (before.get(name) ?? 0)).map(([name]) => name);
}

function writtenRows({ tables }: WatchedDatabaseFacts): ReadonlyMap<string, number> {
  return new Map(tables.map(({ name, inserted, changed }) => [name, inserted + changed]));
}

/** Bytes of WAL that the target has not confirmed. */
export function slotLagBytes(slot: WatchedSlot, { walPosition }: WatchedServerFacts): number {
  return walPosition === undefined || slot.flushed === undefined ? 0 : Math.max(0, walPosition - slot.flushed);
}

function isCopySeen(database: string, server: WatchedServerFacts): boolean {
  return (
    copiesOf(database, server).length > 0 ||
    server.senders.some((sender) => sender.database === database && isTableSyncSender(sender)) ||
    server.slots.some((slot) => slot.database === database && isTableSyncSlot(slot))
  );
}

/** COPY statements of the migration and of pg_dump, without those of the application. */
function copiesOf(database: string, { copies, senders }: WatchedServerFacts) {
  const pids = new Set(senders.map(({ pid }) => pid));
  return copies.filter((copy) => copy.database === database && (copy.dump || pids.has(copy.pid)));
}
