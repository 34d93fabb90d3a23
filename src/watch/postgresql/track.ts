import { type Clocked, deadlineOf, judgeDeadline } from '../deadline.ts';
import { type Limits, lookBack } from '../limits.ts';
import { follow } from '../rates.ts';
import type { Phase, Violation } from '../sighting.ts';
import type { Step } from '../step.ts';
import type { Look, Outage, ServerFacts } from './facts.ts';
import { followDatabase, sightPercent, sightPhase } from './follow.ts';
import { type DatabaseMemory, emptyDatabase, type Memory } from './memory.ts';
import { type Chosen, chooseSlots, isSyncSlot } from './ours.ts';
import { overallPhase } from './phase.ts';
import { judgeOutage } from './rules/outage.ts';
import { rules, stopping } from './rules.ts';
import type { OurSlot, Seen } from './seen.ts';
import { copiedBytes } from './tables.ts';
import { endingOf, etaOf, isSettled, lagIn, overallPercent, sightDatabase, sum, withWork } from './totals.ts';

export interface Tracking {
  readonly limits: Limits;
  /** Databases that are not migrated. */
  readonly ignoreDbs: readonly string[];
  /** `--slot`. */
  readonly named: readonly string[];
  readonly warned: readonly string[];
  /** From when the two weeks run, if the record tells. */
  readonly clocked: (firstSeen: number | undefined) => Clocked | undefined;
}

/** One look more: what is remembered after it, and what is to be said of it. */
export function advance(memory: Memory, look: Look, tracking: Tracking): Step<Memory> {
  return look.kind === 'outage' ? missed(memory, look.outage, tracking) : seen(memory, look, tracking);
}

function seen(was: Memory, look: Extract<Look, { kind: 'seen' }>, tracking: Tracking): Step<Memory> {
  const { server } = look;
  const { limits } = tracking;
  const chosen = chooseSlots(server.slots, { named: tracking.named, known: was.known, before: was.before });
  const slots = chosen.slots.filter(({ database }) => !tracking.ignoreDbs.includes(database ?? ''));
  const names = server.databases.map(({ name }) => name).filter((name) => !tracking.ignoreDbs.includes(name));
  const databases = new Map(
    [...new Set([...names, ...was.databases.keys()])].map((name) => [
      name,
      followDatabase(was.databases.get(name) ?? emptyDatabase(name), {
        server,
        facts: look.databases.get(name),
        slot: slots.find((slot) => slot.database === name),
        appeared: was.first !== undefined,
        limits,
      }),
    ]),
  );
  const window = [...was.window.filter(({ at }) => at >= server.at - lookBack(limits)), server];
  const first = was.first ?? server;
  const judged = { now: server, first, window, limits, warned: tracking.warned };
  const broken = judge({ ...judged, slots: ourSlots(databases, server), databases: databasesSeen(databases) });
  const stopped = new Set(broken.filter(({ rule }) => stopping.has(rule)).map(({ database }) => database));
  const sights = [...databases.values()].map((one) => {
    const phase = sightPhase(one, server, stopped.has(one.name), limits);
    return { memory: { ...one, percent: sightPercent(one, phase, lagIn(one, server)) }, phase };
  });
  const counted = withWork(sights);
  const totals = counted.map(({ memory }) => copiedBytes(memory.tables, memory.facts?.tables ?? []));
  const [done, total] = [sum(totals.map((one) => one.done)), sum(totals.map((one) => one.total))];
  const lag = Math.max(0, ...counted.map(({ memory }) => lagIn(memory, server)));
  const phase = overallPhase(counted.map((one) => one.phase));
  const copy = follow(was.copy, done, server.at);
  const written = follow(was.written, server.position ?? 0, server.at);
  const confirmed = follow(was.confirmed, Math.max(0, (server.position ?? 0) - lag), server.at);
  const eta = etaOf(phase, { left: total - done, lag, copy, written, confirmed });
  const firstSeen = was.firstSeen ?? (slots.length > 0 ? server.at : undefined);
  const clocked = tracking.clocked(firstSeen);
  const percent = overallPercent(phase, counted, was.percent);
  const isIdle = phase === 'streaming' && lag === 0 && isSettled(counted, { first, now: server }, limits);
  const memory: Memory = {
    first,
    window,
    databases: new Map(sights.map((one) => [one.memory.name, one.memory])),
    known: [...new Set([...was.known, ...slots.map(({ name }) => name)])],
    before: was.before ?? beforeOf(slots, server),
    firstSeen,
    copy,
    written,
    confirmed,
    idle: isIdle ? was.idle + 1 : 0,
    outage: undefined,
    percent,
  };
  const violations = [...broken, ...judgeDeadline(clocked, server.at, eta)];
  return {
    memory,
    sighting: {
      at: new Date(server.at).toISOString(),
      phase,
      percent,
      bytes_done: done,
      bytes_total: total,
      lag_bytes: lag,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineOf(clocked),
      databases: sights.map((one) => sightDatabase(one, server)),
      violations,
      ...notesOf(chosen, phase, deniedOf(server, databases)),
    },
    idle: memory.idle,
    ...endingOf(memory, violations),
  };
}

/** Nothing new is known: the last numbers stay, and the phase tells that they are old. */
function missed(was: Memory, outage: Outage, { limits, clocked }: Tracking): Step<Memory> {
  const since = was.outage?.since ?? outage.at;
  const last = was.window.at(-1);
  const begun = clocked(was.firstSeen);
  const phase = outage.at - since >= limits.gone ? 'gone' : 'stalled';
  const databases = [...was.databases.values()];
  const totals = databases.map(({ tables, facts }) => copiedBytes(tables, facts?.tables ?? []));
  const lags = last === undefined ? [] : databases.map((one) => lagIn(one, last));
  return {
    memory: { ...was, idle: 0, outage: { since, last: outage } },
    sighting: {
      at: new Date(outage.at).toISOString(),
      phase,
      percent: was.percent,
      bytes_done: sum(totals.map(({ done }) => done)),
      bytes_total: sum(totals.map(({ total }) => total)),
      lag_bytes: Math.max(0, ...lags),
      ...deadlineOf(begun),
      databases: databases.map((memory) => sightDatabase({ memory, phase }, last)),
      violations: [...judgeOutage(outage, since, last), ...judgeDeadline(begun, outage.at, undefined)],
    },
    idle: 0,
  };
}

function judge(all: Seen): readonly Violation[] {
  return rules.flatMap((rule) => rule(all));
}

function ourSlots(databases: ReadonlyMap<string, DatabaseMemory>, server: ServerFacts): readonly OurSlot[] {
  return [...databases.values()].flatMap(({ name, slot, missing, activeAt }) =>
    slot === undefined
      ? []
      : [
          {
            name: slot,
            database: name,
            slot: server.slots.find((one) => one.name === slot),
            missing,
            wasActive: activeAt !== undefined,
          },
        ],
  );
}

/** Those the migration was met in: what happens in others is not its business. */
function databasesSeen(databases: ReadonlyMap<string, DatabaseMemory>): Seen['databases'] {
  return [...databases.values()].flatMap(({ name, slot, facts, publications, read, shapes }) =>
    slot === undefined || publications === undefined ? [] : [{ name, now: facts, publications, read, shapes }],
  );
}

/** The first look that finds none of ours tells which slots are somebody else's. */
function beforeOf(ours: Chosen['slots'], { slots }: ServerFacts): readonly string[] | undefined {
  if (ours.length > 0) return undefined;
  return slots.filter((slot) => !isSyncSlot(slot)).map(({ name }) => name);
}

function notesOf({ doubtful }: Chosen, phase: Phase, denied: readonly string[]): { notes?: readonly string[] } {
  const notes = [
    ...(doubtful.length === 0
      ? []
      : [`several slots could be the migration's: ${doubtful.join(', ')}; name it with --slot`]),
    ...(denied.length === 0 ? [] : [`not seen, because the source did not answer: ${denied.join(', ')}`]),
    ...(phase === 'waiting' ? ['no replication slot of a migration is there yet'] : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

function deniedOf(server: ServerFacts, databases: ReadonlyMap<string, DatabaseMemory>): readonly string[] {
  const own = [...databases.values()].flatMap(({ facts }) => facts?.denied ?? []);
  return [...new Set([...server.denied, ...own])];
}
