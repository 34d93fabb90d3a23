import type { PostgresqlWatchRule } from './rule-input.ts';
import { replicationApplyFailureWatchRule } from './rules/apply-failure-rule.ts';
import { blockedCommitsWatchRule, rollbackRateWatchRule } from './rules/commit-rules.ts';
import {
  changedConnectionSettingsWatchRule,
  hbaChangeWatchRule,
  sourceConnectionProbeWatchRule,
} from './rules/connection-rules.ts';
import { copyFailureWatchRule } from './rules/copy-rule.ts';
import { missingSlotRule, publicationChangeWatchRule, replicationSlotWatchRule } from './rules/object-rules.ts';
import { retainedWalWatchRule } from './rules/retained-wal-rule.ts';
import { roleChangeWatchRule } from './rules/role-rule.ts';
import { schemaChangeWatchRule } from './rules/schema-rule.ts';
import { serverRestartOrRecoveryWatchRule } from './rules/server-rule.ts';
import { replicationSettingsWatchRule } from './rules/settings-rule.ts';

/** Rules for a running migration (docs/service.md S9.15) and other causes that stop a migration, most severe first. */
export const postgresWatchRules: readonly PostgresqlWatchRule[] = [
  replicationSettingsWatchRule,
  replicationSlotWatchRule,
  missingSlotRule,
  publicationChangeWatchRule,
  replicationApplyFailureWatchRule,
  copyFailureWatchRule,
  retainedWalWatchRule,
  blockedCommitsWatchRule,
  rollbackRateWatchRule,
  schemaChangeWatchRule,
  serverRestartOrRecoveryWatchRule,
  roleChangeWatchRule,
  sourceConnectionProbeWatchRule,
  hbaChangeWatchRule,
  changedConnectionSettingsWatchRule,
];

/** The rules whose violation means that nothing is replicated. */
export const postgresWatchRulesStoppingReplication: ReadonlySet<string> = new Set([
  'apply-blocked',
  'apply-failing',
  'apply-failing-or-disconnected',
  'copy-failing',
  'publication-dropped',
  'slot-dropped',
  'slot-lost',
  'target-disconnected',
]);
