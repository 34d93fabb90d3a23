import { checkDeadline, deadlineFields, type MigrationStart } from '../migration-deadline.ts';
import { updateRate } from '../moving-rate.ts';
import type { Violation, WatchPhase } from '../status-sample.ts';
import type { TrackingResult } from '../tracking-result.ts';
import { sampleRetention, type WatchLimits } from '../watch-limits.ts';
import { chooseMigrationSlots, isTableSyncSlot, type SlotChoice } from './choose-slots.ts';
import { overallPhase } from './decide-phase.ts';
import {
  databaseLagBytes,
  databasesWithWork,
  detectMigrationEnd,
  estimateEta,
  isMigrationSettled,
  overallPercent,
  sampleDatabase,
  sumNumbers,
} from './migration-totals.ts';
import { postgresRules, postgresStoppingRules } from './postgres-rules.ts';
import type { SeenSlot, WatchRuleInput } from './rule-input.ts';
import { postgresOutageViolations } from './rules/outage-violation.ts';
import type { PostgresPoll, ServerFacts, SourceOutage } from './server-facts.ts';
import { databasePercent, databasePhase, trackDatabase } from './track-database.ts';
import { sumCopiedBytes } from './track-tables.ts';
import { type DatabaseTrackingState, initialDatabaseState, type PostgresTrackingState } from './tracking-state.ts';

export interface PostgresTrackingOptions {
  readonly limits: WatchLimits;
  /** Databases that are not migrated. */
  readonly ignoreDbs: readonly string[];
  /** `--slot`. */
  readonly named: readonly string[];
  readonly warned: readonly string[];
  /** From when the two weeks run, if the record tells. */
  readonly clocked: (firstSeen: number | undefined) => MigrationStart | undefined;
}

/** One look more: what is remembered after it, and what is to be said of it. */
export function trackPostgresPoll(
  memory: PostgresTrackingState,
  look: PostgresPoll,
  tracking: PostgresTrackingOptions,
): TrackingResult<PostgresTrackingState> {
  return look.kind === 'outage' ? trackOutage(memory, look.outage, tracking) : trackFacts(memory, look, tracking);
}

function trackFacts(
  was: PostgresTrackingState,
  look: Extract<PostgresPoll, { kind: 'seen' }>,
  tracking: PostgresTrackingOptions,
): TrackingResult<PostgresTrackingState> {
  const { server } = look;
  const { limits } = tracking;
  const chosen = chooseMigrationSlots(server.slots, { named: tracking.named, known: was.known, before: was.before });
  const slots = chosen.slots.filter(({ database }) => !tracking.ignoreDbs.includes(database ?? ''));
  const names = server.databases.map(({ name }) => name).filter((name) => !tracking.ignoreDbs.includes(name));
  const databases = new Map(
    [...new Set([...names, ...was.databases.keys()])].map((name) => [
      name,
      trackDatabase(was.databases.get(name) ?? initialDatabaseState(name), {
        server,
        facts: look.databases.get(name),
        slot: slots.find((slot) => slot.database === name),
        appeared: was.first !== undefined,
        limits,
      }),
    ]),
  );
  const window = [...was.window.filter(({ at }) => at >= server.at - sampleRetention(limits)), server];
  const first = was.first ?? server;
  const judged = { now: server, first, window, limits, warned: tracking.warned };
  const broken = runPostgresRules({
    ...judged,
    slots: seenSlots(databases, server),
    databases: seenDatabases(databases),
  });
  const stopped = new Set(broken.filter(({ rule }) => postgresStoppingRules.has(rule)).map(({ database }) => database));
  const sights = [...databases.values()].map((one) => {
    const phase = databasePhase(one, server, stopped.has(one.name), limits);
    return { memory: { ...one, percent: databasePercent(one, phase, databaseLagBytes(one, server)) }, phase };
  });
  const counted = databasesWithWork(sights);
  const totals = counted.map(({ memory }) => sumCopiedBytes(memory.tables, memory.facts?.tables ?? []));
  const [done, total] = [sumNumbers(totals.map((one) => one.done)), sumNumbers(totals.map((one) => one.total))];
  const lag = Math.max(0, ...counted.map(({ memory }) => databaseLagBytes(memory, server)));
  const phase = overallPhase(counted.map((one) => one.phase));
  const copy = updateRate(was.copy, done, server.at);
  const written = updateRate(was.written, server.position ?? 0, server.at);
  const confirmed = updateRate(was.confirmed, Math.max(0, (server.position ?? 0) - lag), server.at);
  const eta = estimateEta(phase, { left: total - done, lag, copy, written, confirmed });
  const firstSeen = was.firstSeen ?? (slots.length > 0 ? server.at : undefined);
  const clocked = tracking.clocked(firstSeen);
  const percent = overallPercent(phase, counted, was.percent);
  const isIdle = phase === 'streaming' && lag === 0 && isMigrationSettled(counted, { first, now: server }, limits);
  const memory: PostgresTrackingState = {
    first,
    window,
    databases: new Map(sights.map((one) => [one.memory.name, one.memory])),
    known: [...new Set([...was.known, ...slots.map(({ name }) => name)])],
    before: was.before ?? otherSlotsOf(slots, server),
    firstSeen,
    copy,
    written,
    confirmed,
    idle: isIdle ? was.idle + 1 : 0,
    outage: undefined,
    percent,
  };
  const violations = [...broken, ...checkDeadline(clocked, server.at, eta)];
  return {
    state: memory,
    sample: {
      at: new Date(server.at).toISOString(),
      phase,
      percent,
      bytes_done: done,
      bytes_total: total,
      lag_bytes: lag,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineFields(clocked),
      databases: sights.map((one) => sampleDatabase(one, server)),
      violations,
      ...notesOf(chosen, phase, deniedOf(server, databases)),
    },
    idlePolls: memory.idle,
    ...detectMigrationEnd(memory, violations),
  };
}

/** Nothing new is known: the last numbers stay, and the phase tells that they are old. */
function trackOutage(
  was: PostgresTrackingState,
  outage: SourceOutage,
  { limits, clocked }: PostgresTrackingOptions,
): TrackingResult<PostgresTrackingState> {
  const since = was.outage?.since ?? outage.at;
  const last = was.window.at(-1);
  const begun = clocked(was.firstSeen);
  const phase = outage.at - since >= limits.gone ? 'gone' : 'stalled';
  const databases = [...was.databases.values()];
  const totals = databases.map(({ tables, facts }) => sumCopiedBytes(tables, facts?.tables ?? []));
  const lags = last === undefined ? [] : databases.map((one) => databaseLagBytes(one, last));
  return {
    state: { ...was, idle: 0, outage: { since, last: outage } },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      percent: was.percent,
      bytes_done: sumNumbers(totals.map(({ done }) => done)),
      bytes_total: sumNumbers(totals.map(({ total }) => total)),
      lag_bytes: Math.max(0, ...lags),
      ...deadlineFields(begun),
      databases: databases.map((memory) => sampleDatabase({ memory, phase }, last)),
      violations: [...postgresOutageViolations(outage, since, last), ...checkDeadline(begun, outage.at, undefined)],
    },
    idlePolls: 0,
  };
}

function runPostgresRules(all: WatchRuleInput): readonly Violation[] {
  return postgresRules.flatMap((rule) => rule(all));
}

function seenSlots(databases: ReadonlyMap<string, DatabaseTrackingState>, server: ServerFacts): readonly SeenSlot[] {
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
function seenDatabases(databases: ReadonlyMap<string, DatabaseTrackingState>): WatchRuleInput['databases'] {
  return [...databases.values()].flatMap(({ name, slot, facts, publications, read, shapes }) =>
    slot === undefined || publications === undefined ? [] : [{ name, now: facts, publications, read, shapes }],
  );
}

/** The first look that finds none of ours tells which slots are somebody else's. */
function otherSlotsOf(ours: SlotChoice['slots'], { slots }: ServerFacts): readonly string[] | undefined {
  if (ours.length > 0) return undefined;
  return slots.filter((slot) => !isTableSyncSlot(slot)).map(({ name }) => name);
}

function notesOf(
  { doubtful }: SlotChoice,
  phase: WatchPhase,
  denied: readonly string[],
): { notes?: readonly string[] } {
  const notes = [
    ...(doubtful.length === 0
      ? []
      : [`several slots could be the migration's: ${doubtful.join(', ')}; name it with --slot`]),
    ...(denied.length === 0 ? [] : [`not seen, because the source did not answer: ${denied.join(', ')}`]),
    ...(phase === 'waiting' ? ['no replication slot of a migration is there yet'] : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

function deniedOf(server: ServerFacts, databases: ReadonlyMap<string, DatabaseTrackingState>): readonly string[] {
  const own = [...databases.values()].flatMap(({ facts }) => facts?.denied ?? []);
  return [...new Set([...server.denied, ...own])];
}
