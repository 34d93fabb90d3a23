import type { Actor } from '../../../api/actor.ts';
import { formatBytes, formatDuration } from '../../../base/text.ts';
import { type IdentityHints, identifyConsumer, weakestIdentity } from '../identity.ts';
import { retentionMs, type WatchLimits } from '../limits.ts';
import {
  checkDeadline,
  deadlineFields,
  hasTargetCaughtUp,
  type KnownStart,
  quoteReported,
  type StopCause,
  updateMovingRate,
  type Violation,
  type WatchPhase,
} from '../sample.ts';
import type { FoldResult } from '../watcher.ts';
import type { SourceBaseline } from './baseline.ts';
import { doesStopLast, findStopCause, outageCause, withoutConsequences } from './cause.ts';
import { combinePhases, databasePercent, databasePhase, foldDatabase, unconfirmedTables } from './database.ts';
import type { PostgresOutage, PostgresPoll, ServerFacts } from './facts.ts';
import { findSlot, type RuleInput } from './rule.ts';
import { postgresRules, stoppingRules } from './rules.ts';
import { findSyncingSystem, listConsumerSlots } from './slots.ts';
import { createDatabaseState, type DatabaseWatch, type PostgresState, trackLogin } from './state.ts';
import { sumTableBytes } from './tables.ts';
import {
  countedDatabases,
  databaseLagBytes,
  databaseSample,
  endByLostSlots,
  isCopyDone,
  migrationPercent,
  secondsLeft,
  sumNumbers,
} from './totals.ts';

export interface FoldOptions {
  readonly limits: WatchLimits;
  /** Names of databases that are not migrated. */
  readonly ignoreDbs: readonly string[];
  readonly hints: IdentityHints;
  readonly preflightWarnings: readonly string[];
  /** UUID of the target cluster; undefined: not known. */
  readonly cluster: string | undefined;
  /** The options that name the source in a command, quoted for a shell. */
  readonly from?: readonly string[];
  /** A command for the profile of this run; undefined: for the default one. */
  readonly command?: Actor['command'] | undefined;
  /** When `db migrate` started the migration; undefined: not known. */
  readonly startedAt: number | undefined;
  readonly baseline: SourceBaseline | undefined;
  /** The role with which the watch logs in to the source. */
  readonly role: string;
  /** When the migration started; undefined: not known. */
  readonly migrationStart: (firstSeen: number | undefined) => KnownStart | undefined;
}

/** Combines the facts of a poll with the state from earlier polls. */
export function foldPostgresPoll(
  state: PostgresState,
  poll: PostgresPoll,
  tracking: FoldOptions,
): FoldResult<PostgresState> {
  return poll.kind === 'outage' ? trackOutage(state, poll.outage, tracking) : trackFacts(state, poll, tracking);
}

function trackFacts(
  previous: PostgresState,
  poll: Extract<PostgresPoll, { kind: 'seen' }>,
  tracking: FoldOptions,
): FoldResult<PostgresState> {
  const { server } = poll;
  const { limits } = tracking;
  const { hints } = tracking;
  const names = server.databases.map(({ name }) => name).filter((name) => !tracking.ignoreDbs.includes(name));
  const identify = (name: string) => {
    const { slot, identity, system } = previous.databases.get(name) ?? createDatabaseState(name);
    const found = listConsumerSlots(server.slots, name, [...hints.named, slot]);
    const known = slot === undefined ? undefined : { name: slot, ...identity, system };
    const identified = identifyConsumer(found, known, hints, { database: name, noun: 'slot' });
    const isAlone = found.filter((one) => hints.before?.includes(one) !== true).length === 1;
    return { ...identified, system: isAlone ? findSyncingSystem(name, server) : undefined };
  };
  const consumers = new Map(names.map((name) => [name, identify(name)]));
  const slots = server.slots.filter(
    ({ name, database }) => database !== undefined && consumers.get(database)?.name === name,
  );
  const databases = new Map(
    [...new Set([...names, ...previous.databases.keys()])].map((name) => [
      name,
      foldDatabase(previous.databases.get(name) ?? createDatabaseState(name), {
        server,
        facts: poll.databases.get(name),
        slot: slots.find((slot) => slot.database === name),
        identity: consumers.get(name)?.identity,
        system: consumers.get(name)?.system,
        isNewSlot: previous.first !== undefined,
        blamed: previous.cause?.database === name ? previous.cause.object : undefined,
        limits,
      }),
    ]),
  );
  const window = [...previous.window.filter(({ at }) => at >= server.at - retentionMs(limits)), server];
  const access = trackLogin(previous.access, server, slots, tracking.baseline);
  const { first } = access;
  const input: RuleInput = {
    now: server,
    first,
    window,
    limits,
    warned: tracking.preflightWarnings,
    cluster: tracking.cluster,
    from: tracking.from ?? [],
    command: tracking.command,
    startedAt: tracking.startedAt,
    ...buildSlotAndDatabaseRuleInput(databases, server),
  };
  const found = runPostgresRules(input);
  const { cause: former } = previous;
  const cause =
    findStopCause(input, found) ?? (former !== undefined && doesStopLast(former, input) ? former : undefined);
  const broken = withoutConsequences(cause, found);
  const stops = (one: Violation) => stoppingRules.has(one.rule) || (one === cause && !isReplicating(cause));
  const stopped = new Set(broken.filter(stops).map(({ database }) => database));
  const tracked = [...databases.values()].map((one) => {
    const phase = databasePhase(one, server, stopped.has(one.name), limits);
    return {
      state: { ...one, percent: databasePercent(one, phase, databaseLagBytes(one, server)) },
      phase,
    };
  });
  const counted = countedDatabases(tracked);
  const totals = counted.map(({ state }) => sumTableBytes(state.tables, state.facts?.tables ?? []));
  const [done, total] = [sumNumbers(totals.map((one) => one.done)), sumNumbers(totals.map((one) => one.total))];
  const lag = Math.max(0, ...counted.map(({ state }) => databaseLagBytes(state, server)));
  const phase = combinePhases(counted.map((one) => one.phase));
  const copyRate = updateMovingRate(previous.copyRate, done, server.at);
  const writtenRate = updateMovingRate(previous.writtenRate, server.walPosition ?? 0, server.at);
  const confirmedRate = updateMovingRate(
    previous.confirmedRate,
    Math.max(0, (server.walPosition ?? 0) - lag),
    server.at,
  );
  const eta = secondsLeft(phase, { left: total - done, lag, copyRate, writtenRate, confirmedRate });
  const firstSeen = previous.firstSeen ?? (slots.length > 0 ? server.at : undefined);
  const start = tracking.migrationStart(firstSeen);
  const percent = migrationPercent(phase, counted, previous.percent);
  const isCopied = phase === 'streaming' && isCopyDone(counted, { first, now: server }, limits);
  const isCaughtUp = isCopied && hasTargetCaughtUp(window, (one) => one.walPosition, lag, limits.caughtUpDelay);
  const state: PostgresState = {
    first,
    access,
    window,
    databases: new Map(tracked.map((one) => [one.state.name, one.state])),
    firstSeen,
    copyRate,
    writtenRate,
    confirmedRate,
    idlePolls: isCopied && lag === 0 ? previous.idlePolls + 1 : 0,
    caughtUpPolls: isCaughtUp ? previous.caughtUpPolls + 1 : 0,
    outage: undefined,
    percent,
    cause,
  };
  const violations = [...broken, ...checkDeadline(start, server.at, eta)];
  const weakest = weakestIdentity(counted.map((one) => one.state.identity));
  return {
    state,
    sample: {
      at: new Date(server.at).toISOString(),
      phase,
      percent,
      bytes_done: done,
      bytes_total: total,
      lag_bytes: lag,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineFields(start),
      ...(weakest === undefined ? {} : { identified_by: weakest }),
      databases: tracked.map((one) => databaseSample(one, server)),
      ...(cause === undefined ? {} : { cause }),
      violations,
      ...pollNotes(phase, listDenied(server, databases), findSilentTargets(window, databases.values())),
    },
    idlePolls: state.idlePolls,
    caughtUpPolls: state.caughtUpPolls,
    ...endByLostSlots(state, violations),
  };
}

/** Keeps the last values while the source cannot be reached; the phase shows that these values are old. */
function trackOutage(
  previous: PostgresState,
  outage: PostgresOutage,
  { limits, migrationStart, baseline, role }: FoldOptions,
): FoldResult<PostgresState> {
  const since = previous.outage?.since ?? outage.at;
  const last = previous.window.at(-1);
  const start = migrationStart(previous.firstSeen);
  // SQLSTATE 57P03: the server starts, recovers or shuts down.
  const isLoading = outage.code === '57P03';
  const phase = isLoading ? 'loading' : outage.at - since >= limits.unreachable ? 'gone' : 'stalled';
  const databases = [...previous.databases.values()];
  const totals = databases.map(({ tables, facts }) => sumTableBytes(tables, facts?.tables ?? []));
  const lags = last === undefined ? [] : databases.map((one) => databaseLagBytes(one, last));
  const violations = isLoading ? [] : postgresOutages(outage, since, { facts: last, baseline, role });
  const weakest = weakestIdentity(databases.map(({ identity }) => identity));
  const cause = outageCause(violations, outage.at - since >= limits.suspectedStop);
  return {
    state: { ...previous, idlePolls: 0, caughtUpPolls: 0, outage: isLoading ? undefined : { since, last: outage } },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      ...(phase === 'gone' || last === undefined ? {} : { percent: previous.percent, lag_bytes: Math.max(0, ...lags) }),
      bytes_done: sumNumbers(totals.map(({ done }) => done)),
      bytes_total: sumNumbers(totals.map(({ total }) => total)),
      ...deadlineFields(start),
      ...(weakest === undefined ? {} : { identified_by: weakest }),
      databases: databases.map((state) => databaseSample({ state, phase }, last)),
      ...(cause === undefined ? {} : { cause }),
      violations: [...withoutConsequences(cause, violations), ...checkDeadline(start, outage.at, undefined)],
      ...(isLoading ? { notes: [`the source accepts no connections at present: ${outage.reason}`] } : {}),
    },
    idlePolls: 0,
    caughtUpPolls: 0,
  };
}

function runPostgresRules(all: RuleInput): readonly Violation[] {
  return postgresRules.flatMap((rule) => rule(all));
}

/** Causes that stop only statements of the application, or that come before anything is replicated. */
function isReplicating({ rule }: StopCause): boolean {
  return rule === 'replica-identity-removed' || rule === 'slot-missing';
}

/**
 * The slots and databases of the migration, as input for the watch rules, without the slots of other consumers. If the
 * server has decoded transactions for a slot, the slot has had a consumer.
 */
function buildSlotAndDatabaseRuleInput(
  databases: ReadonlyMap<string, DatabaseWatch>,
  server: ServerFacts,
): Pick<RuleInput, 'slots' | 'databases'> {
  const ours = [...databases.values()].flatMap((database) =>
    database.slot === undefined ? [] : [{ ...database, slot: database.slot }],
  );
  return {
    slots: ours.map(({ name, slot: slotName, missedPolls, firstActiveAt }) => {
      const slot = server.slots.find((one) => one.name === slotName);
      const wasActive = firstActiveAt !== undefined || (slot?.decoded ?? 0) > 0;
      return { name: slotName, database: name, slot, missedPolls, wasActive };
    }),
    databases: ours.flatMap((database) => {
      const { name, facts, publications, publicationsRead, otherPublications, shapes } = database;
      if (publications === undefined) return [];
      const subscription = database.subscription ?? (/^cloudctl_/.test(database.slot) ? database.slot : undefined);
      return [
        {
          name,
          now: facts,
          publications,
          publicationsRead,
          otherPublications,
          shapes,
          subscription,
          pendingTables: unconfirmedTables(database),
        },
      ];
    }),
  };
}

/** The notes of a poll: queries that the role may not run, and that there is no slot yet. */
export function pollNotes(
  phase: WatchPhase,
  denied: readonly string[],
  silent: readonly string[],
): { notes?: readonly string[] } {
  const notes = [
    ...silent,
    ...(denied.length === 0 ? [] : [`not readable for this role: ${denied.join(', ')}`]),
    ...(phase === 'waiting' ? ['there is no replication slot of a migration yet'] : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

/** The ids of the queries that failed on the server or in a database. */
export function listDenied(server: ServerFacts, databases: ReadonlyMap<string, DatabaseWatch>): readonly string[] {
  const own = [...databases.values()].flatMap(({ facts }) => facts?.denied ?? []);
  return [...new Set([...server.denied, ...own])];
}

/** Polls, and milliseconds, in which a connected target confirms nothing before the watch says so. */
const silentPolls = 3;
const confirmPeriod = 2000;

/** One note for each connected target that confirms nothing although tables of its database are written. */
function findSilentTargets(window: readonly ServerFacts[], databases: Iterable<DatabaseWatch>): readonly string[] {
  const now = window.at(-1);
  return [...databases].flatMap((database) => {
    const { slot: name } = database;
    const flushed = now === undefined || name === undefined ? undefined : findSlot(now, name)?.flushed;
    if (now === undefined || name === undefined || flushed === undefined) return [];
    const isSame = (facts: ServerFacts) => {
      const slot = findSlot(facts, name);
      return slot?.active === true && slot.flushed === flushed;
    };
    const since = window.slice(window.findLastIndex((facts) => !isSame(facts)) + 1);
    const [first] = since;
    if (first === undefined || since.length < silentPolls || now.at - first.at < confirmPeriod) return [];
    const written = (now.walPosition ?? 0) - (first.walPosition ?? 0);
    if (written <= 0 || unconfirmedTables(database).length === 0) return [];
    return [
      `the target is connected to slot ${name} but has confirmed nothing for ${formatDuration(now.at - first.at)}, while the source wrote ${formatBytes(written)}`,
    ];
  });
}

/**
 * Violations while the source cannot be reached; the error code decides the rule.
 * @param since milliseconds since the epoch
 */
export function postgresOutages(
  outage: PostgresOutage,
  since: number,
  { facts: last, baseline, role }: LastFacts,
): readonly Violation[] {
  const [rule, hint] = ruleAndHintOf(outage.code);
  const lines = (last?.hbaRuleLines ?? baseline?.hbaRuleLines ?? []).filter((line) => /^host/.test(line));
  const level = last?.settings.get('wal_level');
  const refuses = level?.inFile !== undefined && level.inFile.toLowerCase() !== 'logical' && last!.slots.length > 0;
  const lasted = outage.at > since ? ` for ${formatDuration(outage.at - since)}` : '';
  return [
    {
      rule,
      ...(rule === 'login-refused' ? refusedLogin(outage, role, lines) : {}),
      observed: `the source has not answered${lasted}: ${outage.reason}`,
      hint:
        refuses && rule === 'source-unreachable'
          ? `set wal_level to logical in postgresql.auto.conf and start the source: with wal_level = ${level.inFile} and a logical slot it does not start (FATAL: logical replication slot exists, but wal_level < logical)`
          : hint,
    },
  ];
}

/**
 * The facts about the login of the target from the last poll before the outage; during an outage no newer facts can be read.
 */
interface LastFacts {
  readonly facts: ServerFacts | undefined;
  readonly baseline: Pick<SourceBaseline, 'hbaRuleLines'> | undefined;
  /** The role with which the target logs in to the source. */
  readonly role: string;
}

/** SQLSTATE 28000: no host rule allows the login, or the role may not log in. 28P01: the password is wrong. */
function refusedLogin(
  { code, reason }: Pick<PostgresOutage, 'code' | 'reason'>,
  role: string,
  hbaRuleLines: readonly string[],
): Pick<Violation, 'object' | 'fix'> {
  if (/is not permitted to log in/.test(reason))
    return { object: role, fix: { run_on: 'source', statement: `ALTER ROLE ${quoteReported(role)} LOGIN;` } };
  // The first pg_hba.conf rule for the role decides, so a refused login means that this rule is missing now.
  const line = hbaRuleLines.find((rule) => ['all', role].includes(rule.split(' ')[2] ?? ''));
  if (code === '28000' && line !== undefined) return { object: line, fix: { run_on: 'pg_hba.conf', statement: line } };
  if (code === '28000')
    return {
      object: 'pg_hba.conf',
      fix: { run_on: 'source', statement: 'SELECT * FROM pg_hba_file_rules ORDER BY line_number;' },
    };
  return { object: role, fix: { run_on: 'source', statement: `\\password ${quoteReported(role)}` } };
}

function ruleAndHintOf(code: string): readonly [string, string] {
  if (code === '28P01' || code === '28000' || code === 'NO_PASSWORD') {
    return [
      'login-refused',
      'restore the password, the role and pg_hba.conf: the target logs in with the same credentials',
    ];
  }
  if (code === 'NO_TLS' || code === 'TLS') return ['tls-changed', 'restore the TLS settings: ssl, certificate and key'];
  if (code === '53300') return ['connections-exhausted', 'close connections, or raise max_connections'];
  if (code === '3D000') return ['database-dropped', 'restore the database, or stop the migration'];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['dns-changed', 'restore the DNS record of the source'];
  if (code === '57P01' || code === '57P02' || code === 'ECONNREFUSED' || code === 'ECONNRESET') {
    return ['source-unreachable', 'start the source; its log says why it stopped'];
  }
  return ['source-unreachable', 'check the network, the firewall and listen_addresses; the watch keeps retrying'];
}
