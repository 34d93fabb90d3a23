import { formatDuration } from '../../../../base/text.ts';
import type { ReplicationStopCauseFix, WatchRuleViolation } from '../../status-sample.ts';
import type { PostgresqlWatchRule, PostgresqlWatchRuleInput, TrackedReplicationSlot } from '../rule-input.ts';
import { detectStoppedReplicationApply, type StoppedReplicationApply } from '../stopped-replication-apply.ts';

/** The rule for a target that repeatedly fails to apply changes, does not apply them, or is not connected. */
export const replicationApplyFailureWatchRule: PostgresqlWatchRule = (input) =>
  input.slots.flatMap((seenSlot) => {
    const stop = detectStoppedReplicationApply(seenSlot, input);
    return stop?.isCertain === true ? [applyStopViolation(seenSlot, stop, input)] : [];
  });

/** Rules of `replicationApplyFailureWatchRule`, and the causes that each of them can have, most likely first. */
export const candidateCausesByApplyStopRule: Readonly<Record<string, readonly string[]>> = {
  'apply-failing': ['target-conflict', 'target-schema', 'target-lock-timeout', 'target-disk-full', 'target-read-only'],
  'apply-blocked': ['target-lock', 'target-busy'],
  'target-disconnected': [
    'target-stopped',
    'target-unreachable',
    'target-read-only',
    'target-disk-full',
    'target-lock',
    'subscription-disabled',
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
  ],
};

/** A query for the target that shows which of the candidates is the cause. */
export const suggestedApplyStopDiagnosisQuery: ReplicationStopCauseFix = {
  run_on: 'target',
  statement:
    "SELECT s.subname, a.state, a.wait_event_type, pg_blocking_pids(s.pid) AS blocked_by, pg_is_in_recovery() AS read_only, current_setting('lock_timeout') AS lock_timeout FROM pg_stat_subscription s LEFT JOIN pg_stat_activity a USING (pid) WHERE s.relid IS NULL;",
};

function applyStopViolation(
  { name, database }: TrackedReplicationSlot,
  stop: StoppedReplicationApply,
  input: PostgresqlWatchRuleInput,
): WatchRuleViolation {
  const pending = input.databases.find((one) => one.name === database)?.pendingTables ?? [];
  const part = {
    database,
    // Tables that were written since the stop; a list of more than three does not help to find the cause.
    object: pending.length > 0 && pending.length <= 3 ? pending.join(', ') : name,
    fix: suggestedApplyStopDiagnosisQuery,
  };
  const elapsed = formatDuration(stop.seconds * 1000);
  const hintOf = (rule: string): string => candidateText(rule, input.warned);
  if (stop.kind === 'failing') {
    return {
      ...part,
      rule: 'apply-failing',
      observed: `the target repeatedly fails on the same change: ${elapsed} without progress of slot ${name}`,
      hint: `${hintOf('apply-failing')}; the log of the target has the error`,
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

/** Lists the possible causes of a rule violation as text. Causes of which the preflight warned come first. */
function candidateText(rule: string, warned: readonly string[]): string {
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
  const candidates = (candidateCausesByApplyStopRule[rule] ?? []).map((id) => candidateLabels[id] ?? id);
  return `one of these: ${[...(isFailing ? ofWarnings : []), ...candidates].join('; ')}`;
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
};
