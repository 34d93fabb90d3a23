import { apply } from './rules/apply.ts';
import { blocked, rollbacks } from './rules/commits.ts';
import { connectivity, door, hostRules, role } from './rules/connectivity.ts';
import { copy } from './rules/copy.ts';
import { publications, schema, slots } from './rules/objects.ts';
import { server } from './rules/server.ts';
import { settings } from './rules/settings.ts';
import { wal } from './rules/wal.ts';
import type { Rule } from './seen.ts';

/** What must not be done while a migration runs (spec.md §4.6), and what else stops it; what is worst comes first. */
export const rules: readonly Rule[] = [
  settings,
  slots,
  publications,
  apply,
  copy,
  wal,
  blocked,
  rollbacks,
  schema,
  server,
  role,
  door,
  hostRules,
  connectivity,
];

/** Those that mean that nothing is replicated. */
export const stopping: ReadonlySet<string> = new Set([
  'apply-failing',
  'apply-failing-or-disconnected',
  'copy-failing',
  'publication-dropped',
  'slot-lost',
  'target-disconnected',
]);
