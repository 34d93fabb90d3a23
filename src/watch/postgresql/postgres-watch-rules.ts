import type { WatchRule } from './rule-input.ts';
import { applyFailureRule } from './rules/apply-failure-rule.ts';
import { blockedCommitsRule, rollbackRule } from './rules/commit-rules.ts';
import { changedConnectionSettingsWatchRule, connectionChangeRule, hostRulesRule } from './rules/connection-rules.ts';
import { copyRule } from './rules/copy-rule.ts';
import { missingSlotRule, publicationRule, slotRule } from './rules/object-rules.ts';
import { retainedWalRule } from './rules/retained-wal-rule.ts';
import { roleRule } from './rules/role-rule.ts';
import { schemaRule } from './rules/schema-rule.ts';
import { serverRule } from './rules/server-rule.ts';
import { replicationSettingsRule } from './rules/settings-rule.ts';

/** Rules for a running migration (spec.md §4.6) and other causes that stop a migration, most severe first. */
export const postgresWatchRules: readonly WatchRule[] = [
  replicationSettingsRule,
  slotRule,
  missingSlotRule,
  publicationRule,
  applyFailureRule,
  copyRule,
  retainedWalRule,
  blockedCommitsRule,
  rollbackRule,
  schemaRule,
  serverRule,
  roleRule,
  connectionChangeRule,
  hostRulesRule,
  changedConnectionSettingsWatchRule,
];

/** Violations during which nothing is replicated. */
export const postgresStoppingRules: ReadonlySet<string> = new Set([
  'apply-blocked',
  'apply-failing',
  'apply-failing-or-disconnected',
  'copy-failing',
  'publication-dropped',
  'slot-dropped',
  'slot-lost',
  'target-disconnected',
]);
