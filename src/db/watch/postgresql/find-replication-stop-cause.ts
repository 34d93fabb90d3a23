import type { ReplicationStopCause, ReplicationStopCauseFix, WatchRuleViolation } from '../status-sample.ts';
import { findSchemaChanges } from './find-schema-changes.ts';
import type { PostgresqlWatchRuleInput, TrackedReplicationSlot } from './rule-input.ts';
import { candidateCausesByApplyStopRule, suggestedApplyStopDiagnosisQuery } from './rules/apply-failure-rule.ts';
import { buildSchemaChangeViolation } from './rules/schema-rule.ts';
import { detectStoppedReplicationApply, type StoppedReplicationApply } from './stopped-replication-apply.ts';

/**
 * The one cause why nothing is replicated, or why the application fails; undefined: changes are replicated. A cause
 * that the source shows now comes first, then a change since the start, then a group of causes that only the target can
 * distinguish.
 * @param violations of this poll
 */
export function findReplicationStopCause(
  input: PostgresqlWatchRuleInput,
  violations: readonly WatchRuleViolation[],
): ReplicationStopCause | undefined {
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
  const group = violations.find(({ rule }) => rule in candidateCausesByApplyStopRule) ?? copy ?? named('slot-missing');
  return group === undefined ? undefined : toCause(group, 'group');
}

/** Removes the violations that are consequences of the cause, and puts the cause first. */
export function removeConsequentViolations(
  cause: ReplicationStopCause | undefined,
  violations: readonly WatchRuleViolation[],
): readonly WatchRuleViolation[] {
  if (cause === undefined) return violations;
  const isConsequence = ({ rule, database, object }: WatchRuleViolation): boolean =>
    (rule === cause.rule && (object === cause.object || rule in candidateCausesByApplyStopRule)) ||
    ((rule in candidateCausesByApplyStopRule || rule === 'copy-failing') &&
      (cause.database === undefined || database === cause.database));
  return [cause, ...violations.filter((violation) => !isConsequence(violation))];
}

/**
 * The cause of an outage: a refused login at once, anything else when it lasts.
 * @param isLong whether the outage has lasted too long for a restart of the source
 */
export function determineSourceOutageCause(
  violations: readonly WatchRuleViolation[],
  isLong: boolean,
): ReplicationStopCause | undefined {
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
  { database }: TrackedReplicationSlot,
  stop: StoppedReplicationApply,
  input: PostgresqlWatchRuleInput,
  named: (rule: string) => WatchRuleViolation | undefined,
  refused: string | undefined,
): ReplicationStopCause | undefined {
  if (stop.kind === 'blocked') return undefined;
  const seen = input.databases.find(({ name }) => name === database);
  const changes = seen === undefined ? [] : findSchemaChanges(seen);
  // Rows of a dropped table are not sent, so a dropped table does not stop the replication.
  const relevant = changes.filter(({ rule }) => rule !== 'table-dropped');
  const [change] = relevant;
  const isPending = change !== undefined && seen?.pendingTables.includes(change.table) === true;
  const schema = () =>
    change === undefined ? undefined : toCause(buildSchemaChangeViolation(database, [change]), 'changed');
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

function toCause(violation: WatchRuleViolation, basis: ReplicationStopCause['basis']): ReplicationStopCause {
  const { rule, object = violation.database ?? 'the source', fix = defaultFix } = violation;
  const candidates = basis === 'group' ? groupCandidates[rule] : undefined;
  return { ...violation, object, fix, basis, ...(candidates === undefined ? {} : { candidates }) };
}

const groupCandidates: Readonly<Record<string, readonly string[]>> = {
  ...candidateCausesByApplyStopRule,
  'copy-failing': ['target-conflict', 'target-schema', 'target-disk-full', 'target-lock-timeout'],
  'slot-missing': ['slot-dropped', 'migration-ended', 'not-started'],
};

const defaultFix: ReplicationStopCauseFix = suggestedApplyStopDiagnosisQuery;
