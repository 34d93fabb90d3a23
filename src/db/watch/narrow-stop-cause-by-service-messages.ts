import { sanitizeLine } from '../../base/sanitize.ts';
import {
  classifyTargetStopMessage,
  type TargetStopMessageClassification,
  targetStopCauseHints,
} from './classify-target-stop-message.ts';
import { candidateCausesByApplyStopRule } from './postgresql/rules/apply-failure-rule.ts';
import type { MigrationStatusSample, ReplicationStopCause } from './status-sample.ts';

/** A message about one database; `database` undefined: about the whole migration. */
export interface ServiceMigrationMessage {
  readonly database: string | undefined;
  readonly text: string;
}

/**
 * Returns the sample with one cause in place of a group of possible causes, if a message of the target names this
 * cause. A message of the target also replaces a cause that is only a change of the source. A message that does not fit
 * the way in which replication stopped is old, and is ignored.
 */
export function narrowStopCauseByServiceMessages(
  sample: MigrationStatusSample,
  messages: readonly ServiceMigrationMessage[],
): MigrationStatusSample {
  const { cause } = sample;
  if (cause === undefined || cause.basis === 'observed') return sample;
  const fitting = messages.filter(
    ({ database }) => (database ?? cause.database) === cause.database || cause.database === undefined,
  );
  for (const { text, database } of fitting) {
    const report = classifyTargetStopMessage(text);
    if (report === undefined || !candidatesOf(cause).includes(report.rule)) continue;
    const narrowed = isSameObject(cause, report) ? confirmedCause(cause) : reportedCause(cause, report, text, database);
    return { ...sample, cause: narrowed, violations: sample.violations.map((one) => (one === cause ? narrowed : one)) };
  }
  return sample;
}

function candidatesOf({ basis, rule, candidates = [] }: ReplicationStopCause): readonly string[] {
  if (basis === 'group') return candidates;
  const isSchema = /^(table|column|schema|replica)-/.test(rule);
  return candidateCausesByApplyStopRule[isSchema ? 'apply-failing' : 'target-disconnected'] ?? [];
}

/** Whether the message of the target concerns the table or column of the cause that the source shows. */
function isSameObject(
  { basis, object }: ReplicationStopCause,
  { object: reported }: TargetStopMessageClassification,
): boolean {
  if (basis === 'group' || reported === undefined) return false;
  return object === reported || object.startsWith(`${reported}.`) || reported.startsWith(`${object}.`);
}

function confirmedCause(cause: ReplicationStopCause): ReplicationStopCause {
  return { ...cause, basis: 'observed' };
}

function reportedCause(
  { object, fix, database, observed }: ReplicationStopCause,
  report: TargetStopMessageClassification,
  text: string,
  reportedDatabase: string | undefined,
): ReplicationStopCause {
  const place = database ?? reportedDatabase;
  return {
    rule: report.rule,
    ...(place === undefined ? {} : { database: place }),
    object: report.object === undefined ? object : sanitizeLine(report.object, 200),
    observed: `${observed}; the target reports: ${sanitizeLine(text, 300)}`,
    hint: targetStopCauseHints[report.rule] ?? 'see the log of the target',
    fix: report.fix ?? fix,
    basis: 'observed',
  };
}
