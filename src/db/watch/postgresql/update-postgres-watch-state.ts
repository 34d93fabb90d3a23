import { hasTargetCaughtUp } from '../has-target-caught-up.ts';
import { type IdentityHints, identifyConsumer, weakestIdentity } from '../identity.ts';
import {
  buildMigrationDeadlineFields,
  checkMigrationDeadline,
  type KnownMigrationStart,
} from '../migration-deadline.ts';
import { computeWatchSampleRetentionMs, type MigrationWatchLimits } from '../migration-watch-limits.ts';
import { updateMovingRate } from '../moving-average-rate.ts';
import type { ReplicationStopCause, WatchRuleViolation } from '../status-sample.ts';
import type { WatchPollResult } from '../watch-poll-result.ts';
import { findSyncingSystem, listConsumerSlots } from './choose-slots.ts';
import { combineDatabasePhases } from './decide-phase.ts';
import {
  determineSourceOutageCause,
  findReplicationStopCause,
  removeConsequentViolations,
} from './find-replication-stop-cause.ts';
import {
  buildDatabaseStatusSample,
  computeMigrationPercent,
  databaseLagBytes,
  detectMigrationEndByLostSlots,
  estimateMigrationSecondsLeft,
  isInitialCopyFinished,
  selectDatabasesForMigrationTotals,
  sumNumbers,
} from './migration-totals.ts';
import { buildWatchPollNotes, findSilentTargets, listDeniedWatchQueries } from './poll-notes.ts';
import { postgresWatchRules, postgresWatchRulesStoppingReplication } from './postgres-watch-rules.ts';
import type { PostgresqlWatchRuleInput } from './rule-input.ts';
import { findPostgresOutageRuleViolations } from './rules/outage-violation.ts';
import type { PostgresPollFailure, PostgresWatchPoll } from './server-facts.ts';
import { buildSlotAndDatabaseRuleInput } from './slot-and-database-rule-input.ts';
import {
  computeWatchedDatabasePercent,
  getWatchedDatabasePhaseAfterPoll,
  updateWatchedDatabaseState,
} from './track-database.ts';
import { sumCopiedAndTotalTableBytes } from './track-tables.ts';
import { trackTargetLoginConditions } from './track-target-login-conditions.ts';
import { createWatchedDatabaseState, type PostgresWatchState } from './tracking-state.ts';
import type { WatchedSourceBaseline } from './watched-source-baseline.ts';

export interface PostgresWatchOptions {
  readonly limits: MigrationWatchLimits;
  /** Names of databases that are not migrated. */
  readonly ignoreDbs: readonly string[];
  readonly hints: IdentityHints;
  readonly preflightWarnings: readonly string[];
  /** UUID of the target cluster; undefined: not known. */
  readonly cluster: string | undefined;
  /** When `db migrate` started the migration; undefined: not known. */
  readonly startedAt: number | undefined;
  readonly baseline: WatchedSourceBaseline | undefined;
  /** The role with which the watch logs in to the source. */
  readonly role: string;
  /** When the migration started; undefined: not known. */
  readonly migrationStart: (firstSeen: number | undefined) => KnownMigrationStart | undefined;
}

/** Combines the facts of a poll with the state from earlier polls. */
export function updatePostgresWatchState(
  state: PostgresWatchState,
  poll: PostgresWatchPoll,
  tracking: PostgresWatchOptions,
): WatchPollResult<PostgresWatchState> {
  return poll.kind === 'outage' ? trackOutage(state, poll.outage, tracking) : trackFacts(state, poll, tracking);
}

function trackFacts(
  previous: PostgresWatchState,
  poll: Extract<PostgresWatchPoll, { kind: 'seen' }>,
  tracking: PostgresWatchOptions,
): WatchPollResult<PostgresWatchState> {
  const { server } = poll;
  const { limits } = tracking;
  const { hints } = tracking;
  const names = server.databases.map(({ name }) => name).filter((name) => !tracking.ignoreDbs.includes(name));
  const identify = (name: string) => {
    const { slot, identity, system } = previous.databases.get(name) ?? createWatchedDatabaseState(name);
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
      updateWatchedDatabaseState(previous.databases.get(name) ?? createWatchedDatabaseState(name), {
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
  const window = [
    ...previous.window.filter(({ at }) => at >= server.at - computeWatchSampleRetentionMs(limits)),
    server,
  ];
  const access = trackTargetLoginConditions(previous.access, server, slots, tracking.baseline);
  const { first } = access;
  const input: PostgresqlWatchRuleInput = {
    now: server,
    first,
    window,
    limits,
    warned: tracking.preflightWarnings,
    cluster: tracking.cluster,
    startedAt: tracking.startedAt,
    ...buildSlotAndDatabaseRuleInput(databases, server),
  };
  const found = runPostgresRules(input);
  const cause = findReplicationStopCause(input, found);
  const broken = removeConsequentViolations(cause, found);
  const stops = (one: WatchRuleViolation) =>
    postgresWatchRulesStoppingReplication.has(one.rule) || (one === cause && !isReplicating(cause));
  const stopped = new Set(broken.filter(stops).map(({ database }) => database));
  const tracked = [...databases.values()].map((one) => {
    const phase = getWatchedDatabasePhaseAfterPoll(one, server, stopped.has(one.name), limits);
    return {
      state: { ...one, percent: computeWatchedDatabasePercent(one, phase, databaseLagBytes(one, server)) },
      phase,
    };
  });
  const counted = selectDatabasesForMigrationTotals(tracked);
  const totals = counted.map(({ state }) => sumCopiedAndTotalTableBytes(state.tables, state.facts?.tables ?? []));
  const [done, total] = [sumNumbers(totals.map((one) => one.done)), sumNumbers(totals.map((one) => one.total))];
  const lag = Math.max(0, ...counted.map(({ state }) => databaseLagBytes(state, server)));
  const phase = combineDatabasePhases(counted.map((one) => one.phase));
  const copyRate = updateMovingRate(previous.copyRate, done, server.at);
  const writtenRate = updateMovingRate(previous.writtenRate, server.walPosition ?? 0, server.at);
  const confirmedRate = updateMovingRate(
    previous.confirmedRate,
    Math.max(0, (server.walPosition ?? 0) - lag),
    server.at,
  );
  const eta = estimateMigrationSecondsLeft(phase, { left: total - done, lag, copyRate, writtenRate, confirmedRate });
  const firstSeen = previous.firstSeen ?? (slots.length > 0 ? server.at : undefined);
  const start = tracking.migrationStart(firstSeen);
  const percent = computeMigrationPercent(phase, counted, previous.percent);
  const isCopied = phase === 'streaming' && isInitialCopyFinished(counted, { first, now: server }, limits);
  const isCaughtUp = isCopied && hasTargetCaughtUp(window, (one) => one.walPosition, lag, limits.caughtUpDelay);
  const state: PostgresWatchState = {
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
  const violations = [...broken, ...checkMigrationDeadline(start, server.at, eta)];
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
      ...buildMigrationDeadlineFields(start),
      ...(weakest === undefined ? {} : { identified_by: weakest }),
      databases: tracked.map((one) => buildDatabaseStatusSample(one, server)),
      ...(cause === undefined ? {} : { cause }),
      violations,
      ...buildWatchPollNotes(
        phase,
        listDeniedWatchQueries(server, databases),
        findSilentTargets(window, databases.values()),
      ),
    },
    idlePolls: state.idlePolls,
    caughtUpPolls: state.caughtUpPolls,
    ...detectMigrationEndByLostSlots(state, violations),
  };
}

/** Keeps the last values while the source cannot be reached; the phase shows that these values are old. */
function trackOutage(
  previous: PostgresWatchState,
  outage: PostgresPollFailure,
  { limits, migrationStart, baseline, role }: PostgresWatchOptions,
): WatchPollResult<PostgresWatchState> {
  const since = previous.outage?.since ?? outage.at;
  const last = previous.window.at(-1);
  const start = migrationStart(previous.firstSeen);
  // SQLSTATE 57P03: the server starts, recovers or shuts down.
  const isLoading = outage.code === '57P03';
  const phase = isLoading ? 'loading' : outage.at - since >= limits.unreachable ? 'gone' : 'stalled';
  const databases = [...previous.databases.values()];
  const totals = databases.map(({ tables, facts }) => sumCopiedAndTotalTableBytes(tables, facts?.tables ?? []));
  const lags = last === undefined ? [] : databases.map((one) => databaseLagBytes(one, last));
  const violations = isLoading ? [] : findPostgresOutageRuleViolations(outage, since, { facts: last, baseline, role });
  const weakest = weakestIdentity(databases.map(({ identity }) => identity));
  const cause = determineSourceOutageCause(violations, outage.at - since >= limits.suspectedStop);
  return {
    state: { ...previous, idlePolls: 0, caughtUpPolls: 0, outage: isLoading ? undefined : { since, last: outage } },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      ...(phase === 'gone' ? {} : { percent: previous.percent, lag_bytes: Math.max(0, ...lags) }),
      bytes_done: sumNumbers(totals.map(({ done }) => done)),
      bytes_total: sumNumbers(totals.map(({ total }) => total)),
      ...buildMigrationDeadlineFields(start),
      ...(weakest === undefined ? {} : { identified_by: weakest }),
      databases: databases.map((state) => buildDatabaseStatusSample({ state, phase }, last)),
      ...(cause === undefined ? {} : { cause }),
      violations: [
        ...removeConsequentViolations(cause, violations),
        ...checkMigrationDeadline(start, outage.at, undefined),
      ],
      ...(isLoading ? { notes: [`the source accepts no connections at present: ${outage.reason}`] } : {}),
    },
    idlePolls: 0,
    caughtUpPolls: 0,
  };
}

function runPostgresRules(all: PostgresqlWatchRuleInput): readonly WatchRuleViolation[] {
  return postgresWatchRules.flatMap((rule) => rule(all));
}

/** Causes that stop only statements of the application, or that come before anything is replicated. */
function isReplicating({ rule }: ReplicationStopCause): boolean {
  return rule === 'replica-identity-removed' || rule === 'slot-missing';
}
