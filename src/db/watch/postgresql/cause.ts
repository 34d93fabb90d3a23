import { formatDuration, quoteShellArg } from '../../../base/text.ts';
import { requoteName } from '../../../postgresql/quote.ts';
import type { CauseFix, StopCause, Violation } from '../sample.ts';
import type { ServerFacts } from './facts.ts';
import { findSlot, type RuleInput, samplesSince, type TrackedSlot, type WatchRule } from './rule.ts';
import { findSchemaChanges, schemaViolation } from './schema.ts';
import { senderOfSlot } from './slots.ts';

/** The target confirms no changes of a slot although the source has changes for it. */
interface StoppedReplicationApply {
  /**
   * `failing`: the target connects and fails repeatedly. `blocked`: the target is connected and does not respond.
   * `disconnected`: the target does not connect. `unknown`: `failing` or `disconnected`; this version of PostgreSQL
   * does not show which.
   */
  readonly kind: 'failing' | 'blocked' | 'disconnected' | 'unknown';
  readonly seconds: number;
  /** False while replication has been stopped for so short a time that the target may be restarting or reconnecting. */
  readonly isCertain: boolean;
}

function detectStoppedReplicationApply(
  { name, slot, wasActive }: TrackedSlot,
  { window, limits, now }: RuleInput,
): StoppedReplicationApply | undefined {
  if (slot === undefined || !wasActive || slot.walStatus === 'lost' || slot.invalidated !== undefined) return undefined;
  const since = (samples: readonly ServerFacts[]) => (now.at - samples[0]!.at) / 1000;
  const failing = samplesSince(window, limits.failingApply);
  if (failing !== undefined && isRetrying(failing, name, limits.failedAttempts))
    return { kind: 'failing', seconds: since(failing), isCertain: true };
  const silence = secondsOfSilence(now, slot);
  if (silence !== undefined && silence * 1000 >= limits.silentReply && isUnconfirmed(window.slice(-3), name))
    return { kind: 'blocked', seconds: silence, isCertain: true };
  const long = samplesSince(window, 3 * limits.failingApply);
  if (silence === undefined && slot.active && long !== undefined && isApplyBlocked(long, name))
    return { kind: 'blocked', seconds: since(long), isCertain: true };
  const quiet = samplesSince(window, limits.inactiveSlot);
  // A worker that a timeout ends again and again is connected most of the time but does not respond.
  const isSilent = !slot.active || silence === undefined || 3000 * silence >= limits.silentReply;
  if (quiet !== undefined && isSilent && isUnconfirmed(quiet, name) && attemptsIn(quiet, name) >= 2)
    return { kind: 'failing', seconds: since(quiet), isCertain: true };
  const showsAttempts = slot.inactiveSince !== undefined || slot.decoded !== undefined;
  if (quiet !== undefined && isFrozen(quiet, name) && attemptsIn(quiet, name) === 0)
    return { kind: showsAttempts ? 'disconnected' : 'unknown', seconds: since(quiet), isCertain: true };
  const short = samplesSince(window, limits.suspectedStop);
  if (short === undefined) return undefined;
  if (isRetrying(short, name, 2)) return { kind: 'failing', seconds: since(short), isCertain: false };
  if (!isFrozen(short, name)) return undefined;
  const kind = !showsAttempts ? 'unknown' : attemptsIn(short, name) > 0 ? 'failing' : 'disconnected';
  return { kind, seconds: since(short), isCertain: false };
}

/**
 * Seconds since the last response of the consumer of a slot that has changes to confirm. The consumer responds every
 * ten seconds (wal_receiver_status_interval), at the latest after half of wal_sender_timeout. It also responds while it
 * applies a large transaction, but not while one of its statements waits for a lock. undefined: no consumer, nothing to
 * confirm, or not shown.
 */
function secondsOfSilence({ senders, walPosition }: ServerFacts, slot: NonNullable<TrackedSlot['slot']>) {
  const sender = slot.active ? senderOfSlot(slot, senders) : undefined;
  const isBehind = (slot.flushed ?? 0) < (walPosition ?? 0);
  return isBehind ? sender?.replyAge : undefined;
}

/** The target confirmed nothing in any of the samples, although the first sample already had unconfirmed changes. */
function isUnconfirmed(samples: readonly ServerFacts[], name: string): boolean {
  const all = samples.map((facts) => findSlot(facts, name)?.flushed);
  return (
    all.length >= 2 && all.every((flushed) => flushed === all[0]) && (all[0] ?? 0) < (samples[0]?.walPosition ?? 0)
  );
}

/** Whether the target connects repeatedly: most polls find no connection, or the polls find different processes. */
function isRetrying(window: readonly ServerFacts[], name: string, attempts: number): boolean {
  if (attemptsIn(window, name) < attempts) return false;
  const pids = new Set(window.flatMap((facts) => findSlot(facts, name)?.pid ?? []));
  return isFrozen(window, name) || (pids.size >= attempts && isUnconfirmed(window, name));
}

/** The slot was inactive in at least 80 % of the samples, and the target confirmed nothing although there are changes. */
function isFrozen(window: readonly ServerFacts[], name: string): boolean {
  const all = window.flatMap((facts) => findSlot(facts, name) ?? []);
  const inactive = all.filter(({ active }) => !active).length;
  const [first] = all;
  const behind = window.at(-1)?.walPosition ?? 0;
  return (
    first !== undefined &&
    all.at(-1)?.active === false &&
    inactive >= 0.8 * all.length &&
    all.every(({ flushed }) => flushed === first.flushed) &&
    (first.flushed ?? 0) < behind
  );
}

/** One consumer was connected all the time and confirmed nothing, while the WAL grew. */
function isApplyBlocked(window: readonly ServerFacts[], name: string): boolean {
  const all = window.map((facts) => findSlot(facts, name));
  const [first] = all;
  return (
    first?.pid !== undefined &&
    all.every((slot) => slot?.pid === first.pid && slot?.flushed === first.flushed) &&
    (first.flushed ?? 0) < (window[0]?.walPosition ?? 0) &&
    (window.at(-1)?.walPosition ?? 0) > (window[0]?.walPosition ?? 0)
  );
}

/**
 * Number of times that the target tried to replicate. An attempt lasts milliseconds, so polls rarely observe the connection.
 * Each attempt changes inactive_since (PostgreSQL 17 and later) and makes the source decode transactions again (14 and
 * later).
 */
function attemptsIn(window: readonly ServerFacts[], name: string): number {
  return window.slice(1).filter((facts, at) => {
    const [before, after] = [findSlot(window[at]!, name), findSlot(facts, name)];
    if (before === undefined || after === undefined) return false;
    const left =
      before.inactiveSince !== undefined &&
      after.inactiveSince !== undefined &&
      before.inactiveSince !== after.inactiveSince;
    // The decoded count also grows while one WAL sender decodes several transactions, so only a new process counts as an
    // attempt.
    const isSameProcess = before.pid !== undefined && before.pid === after.pid;
    const decoded = before.decoded !== undefined && after.decoded !== undefined && after.decoded > before.decoded;
    return left || (decoded && !isSameProcess) || after.active !== before.active || after.pid !== before.pid;
  }).length;
}

/** The rule for a target that repeatedly fails to apply changes, does not apply them, or is not connected. */
export const applyFailureRule: WatchRule = (input) =>
  input.slots.flatMap((seenSlot) => {
    const stop = detectStoppedReplicationApply(seenSlot, input);
    return stop?.isCertain === true ? [applyStopViolation(seenSlot, stop, input)] : [];
  });

/** Rules of `applyFailureRule`, and the causes that each of them can have, most likely first. */
export const candidateCauses: Readonly<Record<string, readonly string[]>> = {
  'apply-failing': [
    'target-conflict',
    'target-schema',
    'target-lock-timeout',
    'target-disk-full',
    'target-read-only',
    'target-trigger',
  ],
  'apply-blocked': ['target-lock', 'target-busy', 'target-stopped', 'target-unreachable'],
  'target-disconnected': [
    'target-stopped',
    'target-unreachable',
    'target-read-only',
    'target-disk-full',
    'target-lock',
    'subscription-disabled',
    'target-workers',
    'login-refused',
  ],
  'apply-failing-or-disconnected': [
    'target-stopped',
    'target-conflict',
    'target-schema',
    'target-lock-timeout',
    'target-disk-full',
    'target-read-only',
    'target-unreachable',
    'target-lock',
    'target-workers',
    'login-refused',
  ],
};

/** A query for the target that shows which of the candidates is the cause. */
export const diagnosisQuery: CauseFix = {
  run_on: 'target',
  statement:
    "SELECT s.subname, a.state, a.wait_event_type, pg_blocking_pids(s.pid) AS blocked_by, pg_is_in_recovery() AS read_only, current_setting('lock_timeout') AS lock_timeout FROM pg_stat_subscription s LEFT JOIN pg_stat_activity a USING (pid) WHERE s.relid IS NULL;",
};

function applyStopViolation(
  { name, database }: TrackedSlot,
  stop: StoppedReplicationApply,
  input: RuleInput,
): Violation {
  const pending = input.databases.find((one) => one.name === database)?.pendingTables ?? [];
  const more = pending.length > 3 ? ` and ${pending.length - 3} more tables` : '';
  const waiting = pending.length === 0 ? '' : `; rows that wait: ${pending.slice(0, 3).join(', ')}${more}`;
  const part = {
    database,
    // Tables that were written since the stop; a list of more than three does not help to find the cause.
    object: pending.length > 0 && pending.length <= 3 ? pending.join(', ') : name,
    fix: diagnosisQuery,
  };
  const elapsed = formatDuration(stop.seconds * 1000);
  const hintOf = (rule: string): string => candidateText(rule, input.warned, pending);
  if (stop.kind === 'failing') {
    return {
      ...part,
      rule: 'apply-failing',
      observed: `the target repeatedly fails on the same change: ${elapsed} without progress of slot ${name}${waiting}`,
      hint: `${hintOf('apply-failing')}; the log of the target has the error; if you cannot read it, ask its operator for it`,
    };
  }
  if (stop.kind === 'blocked') {
    return {
      ...part,
      rule: 'apply-blocked',
      observed: `the target is connected but has not confirmed anything of slot ${name} for ${elapsed}`,
      hint: hintOf('apply-blocked'),
    };
  }
  const observed = `the slot ${name} has had no consumer for ${elapsed}`;
  if (stop.kind === 'disconnected') {
    return {
      ...part,
      rule: 'target-disconnected',
      observed,
      hint: `${hintOf('target-disconnected')}; the source retains WAL until the target reconnects`,
    };
  }
  return {
    ...part,
    rule: 'apply-failing-or-disconnected',
    observed: `${observed}: the target fails on a change or cannot connect (the PostgreSQL version of the source does not report which)`,
    hint: `${hintOf('apply-failing-or-disconnected')}; search the log of the source for refused logins`,
  };
}

/** The statement for the target that lists the constraints of the table of a table synchronization slot. */
export function constraintsQuery(slot: string): CauseFix {
  const table = /_sync_(\d+)(?:_\d+)?$/.exec(slot)?.[1];
  if (table === undefined) return diagnosisQuery;
  return {
    run_on: 'target',
    statement: `SELECT c.oid::pg_catalog.regclass AS "table", o.conname, pg_catalog.pg_get_constraintdef(o.oid) FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_constraint o ON o.conrelid = c.oid WHERE c.oid = ${table};`,
  };
}

/** Lists the possible causes of a rule violation as text. Causes of which the preflight warned come first. */
function candidateText(rule: string, warned: readonly string[], pending: readonly string[]): string {
  const known: readonly (readonly [readonly string[], string])[] = [
    [['replica-identity', 'full-without-eq'], 'rows without a replica identity, or with columns that have no equality'],
    [['ext-tables', 'extensions'], 'published tables of extensions'],
    [['ddl-activity', 'partitions', 'unlogged'], 'tables created or altered since the start'],
    [['always-triggers', 'generated-columns'], 'triggers and generated columns on the target'],
  ];
  const ofWarnings = known.flatMap(([ids, words]) => {
    const id = ids.find((one) => warned.includes(one));
    return id === undefined ? [] : [`${words} (preflight warning ${id})`];
  });
  const isFailing = rule.startsWith('apply-failing');
  const candidates = (candidateCauses[rule] ?? []).map((id) => candidateLabels[id] ?? id);
  const causes = `one of these: ${[...(isFailing ? ofWarnings : []), ...candidates].join('; ')}`;
  const [table] = pending;
  if (!isFailing || table === undefined) return causes;
  // A watch does not log in to the target. This comes first, because a small screen cuts off the list of the causes.
  const show = `psql TARGET_URL -c ${quoteShellArg(`\\d ${requoteName(table)}`)}`;
  return `only the log of the target names a constraint or column that refuses the row, \`${show}\` lists those of the table; ${causes}`;
}

const candidateLabels: Readonly<Record<string, string>> = {
  'target-conflict': 'a row that was written on the target (duplicate key)',
  'target-schema': 'a table or column that the target lacks or has with another type',
  'target-lock-timeout': 'a lock on the target and a lock_timeout of the apply role',
  'target-lock': 'a lock on the target',
  'target-busy': 'a long statement or trigger on the target',
  'target-disk-full': 'a full disk of the target',
  'target-read-only': 'a target that is read-only (a standby)',
  'target-stopped': 'a stopped target',
  'target-unreachable': 'a firewall or the network',
  'subscription-disabled': 'a disabled subscription',
  'target-trigger': 'a trigger of the target that fails',
  'target-workers': 'no free replication worker of the target',
  'login-refused': 'a login that the source refuses',
};

/**
 * The one cause why nothing is replicated, or why the application fails; undefined: changes are replicated. A cause
 * that the source shows now comes first, then a change since the start, then a group of causes that only the target can
 * distinguish.
 * @param violations of this poll
 */
export function findStopCause(input: RuleInput, violations: readonly Violation[]): StopCause | undefined {
  const named = (rule: string) => violations.find((one) => one.rule === rule);
  const live = liveRules.flatMap((rule) => named(rule) ?? []);
  if (live[0] !== undefined) return toCause(live[0], 'observed');
  const stops = input.slots.flatMap((slot) => {
    const stop = detectStoppedReplicationApply(slot, input);
    return stop === undefined ? [] : [{ slot, stop }];
  });
  const copy = named('copy-failing');
  const timeout = named('role-timeout');
  if (copy !== undefined && timeout !== undefined) return toCause(timeout, 'observed');
  const refused = input.now.connection?.refused?.code;
  for (const { slot, stop } of stops) {
    const changed = changeBehind(slot, stop, input, named, refused);
    if (changed !== undefined) return changed;
  }
  const group = violations.find(({ rule }) => rule in candidateCauses) ?? copy ?? named('slot-missing');
  return group === undefined ? undefined : toCause(group, 'group');
}

/**
 * Whether a stop that was seen before lasts: its slot has confirmed nothing since. A target that fails is connected for
 * moments, and the source ends a silent connection after wal_sender_timeout, which looks like another stop at first.
 */
export function doesStopLast(cause: StopCause, { window, now, slots }: RuleInput): boolean {
  const name = slots.find(({ database }) => database === cause.database)?.name;
  if (name === undefined || !(cause.rule in candidateCauses || cause.basis === 'changed')) return false;
  const [before, slot] = [window.at(-2), now].map((facts) => facts && findSlot(facts, name));
  if (slot === undefined || slot.flushed !== before?.flushed || (slot.flushed ?? 0) >= (now.walPosition ?? 0))
    return false;
  // A target that applies a large transaction stays connected and answers, although it confirms nothing yet.
  const samples = samplesSince(window, answeringPeriod);
  const stays = samples?.every((facts) => findSlot(facts, name)?.pid === slot.pid) === true && slot.pid !== undefined;
  return !(stays && (senderOfSlot(slot, now.senders)?.replyAge ?? 0) * 1000 < answeringPeriod);
}

/** A connected target answers every ten seconds (wal_receiver_status_interval). */
const answeringPeriod = 15_000;

/** Removes the violations that are consequences of the cause, and puts the cause first. */
export function withoutConsequences(
  cause: StopCause | undefined,
  violations: readonly Violation[],
): readonly Violation[] {
  if (cause === undefined) return violations;
  const isConsequence = ({ rule, database, object }: Violation): boolean =>
    (rule === cause.rule && (object === undefined || object === cause.object || rule in candidateCauses)) ||
    ((rule in candidateCauses || rule === 'copy-failing') &&
      (cause.database === undefined || database === cause.database));
  return [cause, ...violations.filter((violation) => !isConsequence(violation))];
}

/**
 * The cause of an outage: a refused login at once, anything else when it lasts.
 * @param isLong whether the outage has lasted too long for a restart of the source
 */
export function outageCause(violations: readonly Violation[], isLong: boolean): StopCause | undefined {
  const [first] = violations;
  return first !== undefined && (isLong || first.rule === 'login-refused') ? toCause(first, 'observed') : undefined;
}

/** Rules whose violation alone stops replication, or makes statements of the application fail. */
const liveRules = ['slot-dropped', 'slot-lost', 'publication-dropped', 'replica-identity-removed'];

/** Rules about logins of the target that the source no longer allows, most specific first. */
const loginRules = [
  'role-changed',
  'password-expired',
  'role-altered',
  'pg-hba-changed',
  'login-refused',
  'listen-addresses-changed',
  'port-changed',
  'ssl-changed',
  'ssl-cert-file-changed',
  'certificate-replaced',
  'dns-changed',
];

function changeBehind(
  { database }: TrackedSlot,
  stop: StoppedReplicationApply,
  input: RuleInput,
  named: (rule: string) => Violation | undefined,
  refused: string | undefined,
): StopCause | undefined {
  if (stop.kind === 'blocked') return undefined;
  const seen = input.databases.find(({ name }) => name === database);
  const changes = seen === undefined ? [] : findSchemaChanges(seen);
  // Rows of a dropped table are not sent, so a dropped table does not stop the replication.
  const relevant = changes.filter(({ rule }) => rule !== 'table-dropped');
  const [change] = relevant;
  const isPending = change !== undefined && seen?.pendingTables.includes(change.table) === true;
  const schema = () => (change === undefined ? undefined : toCause(schemaViolation(database, [change]), 'changed'));
  // SQLSTATE 28000: no host rule; 28P01: the password is wrong.
  const rules = refused === '28000' ? ['role-changed', 'pg-hba-changed', ...loginRules] : loginRules;
  const login = () => {
    const [found] = rules.flatMap((rule) => named(rule) ?? []);
    return found === undefined
      ? undefined
      : toCause({ ...found, database }, refused === undefined ? 'changed' : 'observed');
  };
  if (stop.kind === 'failing') return schema();
  if (stop.kind === 'disconnected') return login();
  return isPending ? schema() : (login() ?? schema());
}

function toCause(violation: Violation, basis: StopCause['basis']): StopCause {
  const { rule, object = violation.database ?? 'the source', fix = defaultFix } = violation;
  const candidates = basis === 'group' ? groupCandidates[rule] : undefined;
  return { ...violation, object, fix, basis, ...(candidates === undefined ? {} : { candidates }) };
}

const groupCandidates: Readonly<Record<string, readonly string[]>> = {
  ...candidateCauses,
  'copy-failing': ['target-conflict', 'target-schema', 'target-disk-full', 'target-lock-timeout'],
  'slot-missing': ['slot-dropped', 'migration-ended', 'not-started'],
};

const defaultFix: CauseFix = diagnosisQuery;
