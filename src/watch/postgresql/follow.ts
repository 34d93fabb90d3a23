import type { Limits } from '../limits.ts';
import { percentOf } from '../percent.ts';
import type { Phase } from '../sighting.ts';
import type { DatabaseFacts, ServerFacts, Slot } from './facts.ts';
import type { DatabaseMemory } from './memory.ts';
import { isSyncSender, isSyncSlot, publicationsIn, senderOf } from './ours.ts';
import { phaseOf } from './phase.ts';
import { allDone, copiedBytes, followTables } from './tables.ts';

export interface DatabaseLook {
  readonly server: ServerFacts;
  /** undefined: it was not this one's turn. */
  readonly facts: DatabaseFacts | undefined;
  /** Its slot, if there is one. */
  readonly slot: Slot | undefined;
  /** The source was looked at before, and this slot was not there. */
  readonly appeared: boolean;
  readonly limits: Limits;
}

/** What is remembered of one database after a look. */
export function followDatabase(was: DatabaseMemory, look: DatabaseLook): DatabaseMemory {
  const { server, slot, limits } = look;
  const { at } = server;
  const facts = look.facts ?? was.facts;
  const isFirst = slot !== undefined && was.slot !== slot.name;
  const active = slot?.active === true;
  const activeAt = isFirst ? (active ? at : undefined) : (was.activeAt ?? (active ? at : undefined));
  const busy = isBusy(was.name, server);
  const copiedAt = busy ? at : was.copiedAt;
  const fresh = isFirst ? look.appeared : was.fresh;
  const tables =
    look.facts === undefined
      ? was.tables
      : followTables(was.tables, {
          tables: look.facts.tables,
          sizes: look.facts.sizes,
          copies: copiesOf(was.name, server),
          copying: copiedAt !== undefined,
        });
  const sender = slot === undefined ? undefined : senderOf(slot, server.senders);
  const read = sender === undefined ? [] : publicationsIn(sender.command);
  const next: DatabaseMemory = {
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
  if (slot === undefined || activeAt === undefined || isCopying(next, at, limits)) return next;
  const lag = lagOf(slot, server);
  return { ...next, copied: true, tables: allDone(tables), peak: Math.max(next.peak, lag) };
}

/** Of a database after a look: `stopped` when a rule that stops replication is broken in it. */
export function sightPhase(memory: DatabaseMemory, server: ServerFacts, stopped: boolean, limits: Limits): Phase {
  const slot = server.slots.find(({ name }) => name === memory.slot);
  return phaseOf({
    slot: slot === undefined ? undefined : { active: slot.active, lag: lagOf(slot, server) },
    hadSlot: memory.slot !== undefined,
    wasActive: memory.activeAt !== undefined,
    copying: isCopying(memory, server.at, limits),
    dumped: server.dumps.includes(memory.name),
    sender: slot === undefined ? undefined : senderOf(slot, server.senders)?.state,
    stopped,
    enough: limits.lag,
  });
}

export function sightPercent(memory: DatabaseMemory, phase: Phase, lag: number): number {
  const { done, total } = copiedBytes(memory.tables, memory.facts?.tables ?? []);
  return percentOf(
    phase,
    total === 0 ? 0 : done / total,
    memory.peak === 0 ? 1 : 1 - lag / memory.peak,
    memory.percent,
  );
}

/** Nothing was copied for a while, and everything that is there was read, or there was time enough to begin. */
export function isCopying(
  { copiedAt, activeAt, fresh, copied, tables }: DatabaseMemory,
  at: number,
  limits: Limits,
): boolean {
  const isRecent = (then: number | undefined) => then !== undefined && at - then < limits.quiet;
  const left = [...tables.values()].some(({ state, bytes }) => state !== 'done' && bytes > 0);
  if (isRecent(copiedAt)) return left || at === copiedAt;
  return fresh && !copied && left && isRecent(activeAt);
}

/** Bytes of WAL that are written and not confirmed. */
export function lagOf(slot: Slot, { position }: ServerFacts): number {
  return position === undefined || slot.flushed === undefined ? 0 : Math.max(0, position - slot.flushed);
}

function isBusy(database: string, server: ServerFacts): boolean {
  return (
    copiesOf(database, server).length > 0 ||
    server.senders.some((sender) => sender.database === database && isSyncSender(sender)) ||
    server.slots.some((slot) => slot.database === database && isSyncSlot(slot))
  );
}

/** A COPY of the application itself is nobody's copy of ours. */
function copiesOf(database: string, { copies, senders }: ServerFacts) {
  const pids = new Set(senders.map(({ pid }) => pid));
  return copies.filter((copy) => copy.database === database && (copy.dump || pids.has(copy.pid)));
}
