import { progressPercent } from '../progress-percent.ts';
import type { WatchPhase } from '../status-sample.ts';
import type { WatchLimits } from '../watch-limits.ts';
import { isTableSyncSender, isTableSyncSlot, publicationsInCommand, walSenderOf } from './choose-slots.ts';
import { decidePhase } from './decide-phase.ts';
import type { DatabaseFacts, ObservedSlot, ServerFacts } from './server-facts.ts';
import { markAllDone, sumCopiedBytes, trackTables } from './track-tables.ts';
import type { DatabaseTrackingState } from './tracking-state.ts';

export interface DatabasePoll {
  readonly server: ServerFacts;
  /** undefined: it was not this one's turn. */
  readonly facts: DatabaseFacts | undefined;
  /** Its slot, if there is one. */
  readonly slot: ObservedSlot | undefined;
  /** The source was looked at before, and this slot was not there. */
  readonly appeared: boolean;
  readonly limits: WatchLimits;
}

/** What is remembered of one database after a look. */
export function trackDatabase(was: DatabaseTrackingState, look: DatabasePoll): DatabaseTrackingState {
  const { server, slot, limits } = look;
  const { at } = server;
  const facts = look.facts ?? was.facts;
  const isFirst = slot !== undefined && was.slot !== slot.name;
  const active = slot?.active === true;
  const activeAt = isFirst ? (active ? at : undefined) : (was.activeAt ?? (active ? at : undefined));
  const busy = isCopySeen(was.name, server);
  const copiedAt = busy ? at : was.copiedAt;
  const fresh = isFirst ? look.appeared : was.fresh;
  const tables =
    look.facts === undefined
      ? was.tables
      : trackTables(was.tables, {
          tables: look.facts.tables,
          sizes: look.facts.sizes,
          copies: copiesOf(was.name, server),
          copying: copiedAt !== undefined,
        });
  const sender = slot === undefined ? undefined : walSenderOf(slot, server.senders);
  const read = sender === undefined ? [] : publicationsInCommand(sender.command);
  const next: DatabaseTrackingState = {
    ...was,
    facts,
    publications: was.publications ?? look.facts?.publications,
    read: read.length > 0 ? read : was.read,
    shapes:
      look.facts?.shapes === undefined
        ? was.shapes
        : { first: was.shapes?.first ?? look.facts.shapes, now: look.facts.shapes },
    tables,
    slot: slot?.name ?? was.slot,
    missing: slot === undefined && was.slot !== undefined ? was.missing + 1 : 0,
    activeAt,
    copiedAt,
    fresh,
    copied: isFirst ? false : was.copied,
    peak: isFirst ? 0 : was.peak,
  };
  if (slot === undefined || activeAt === undefined || isInitialCopyRunning(next, at, limits)) return next;
  const lag = slotLagBytes(slot, server);
  return { ...next, copied: true, tables: markAllDone(tables), peak: Math.max(next.peak, lag) };
}

/** Of a database after a look: `stopped` when a rule that stops replication is broken in it. */
export function databasePhase(
  memory: DatabaseTrackingState,
  server: ServerFacts,
  stopped: boolean,
  limits: WatchLimits,
): WatchPhase {
  const slot = server.slots.find(({ name }) => name === memory.slot);
  return decidePhase({
    slot: slot === undefined ? undefined : { active: slot.active, lag: slotLagBytes(slot, server) },
    hadSlot: memory.slot !== undefined,
    wasActive: memory.activeAt !== undefined,
    copying: isInitialCopyRunning(memory, server.at, limits),
    dumped: server.dumps.includes(memory.name),
    sender: slot === undefined ? undefined : walSenderOf(slot, server.senders)?.state,
    stopped,
    enough: limits.streamingLag,
  });
}

export function databasePercent(memory: DatabaseTrackingState, phase: WatchPhase, lag: number): number {
  const { done, total } = sumCopiedBytes(memory.tables, memory.facts?.tables ?? []);
  return progressPercent(
    phase,
    total === 0 ? 0 : done / total,
    memory.peak === 0 ? 1 : 1 - lag / memory.peak,
    memory.percent,
  );
}

/** Nothing was copied for a while, and everything that is there was read, or there was time enough to begin. */
export function isInitialCopyRunning(
  { copiedAt, activeAt, fresh, copied, tables }: DatabaseTrackingState,
  at: number,
  limits: WatchLimits,
): boolean {
  const isRecent = (then: number | undefined) => then !== undefined && at - then < limits.copyPause;
  const left = [...tables.values()].some(({ state, bytes }) => state !== 'done' && bytes > 0);
  if (isRecent(copiedAt)) return left || at === copiedAt;
  return fresh && !copied && left && isRecent(activeAt);
}

/** Bytes of WAL that are written and not confirmed. */
export function slotLagBytes(slot: ObservedSlot, { position }: ServerFacts): number {
  return position === undefined || slot.flushed === undefined ? 0 : Math.max(0, position - slot.flushed);
}

function isCopySeen(database: string, server: ServerFacts): boolean {
  return (
    copiesOf(database, server).length > 0 ||
    server.senders.some((sender) => sender.database === database && isTableSyncSender(sender)) ||
    server.slots.some((slot) => slot.database === database && isTableSyncSlot(slot))
  );
}

/** A COPY of the application itself is nobody's copy of ours. */
function copiesOf(database: string, { copies, senders }: ServerFacts) {
  const pids = new Set(senders.map(({ pid }) => pid));
  return copies.filter((copy) => copy.database === database && (copy.dump || pids.has(copy.pid)));
}
