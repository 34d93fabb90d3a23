export { type FailureCommands, failureHeadline, helpWithFailures } from './failures.ts';
export {
  confirmIdentity,
  formatIdentity,
  readServiceWord,
  type ServiceWord,
  silentService,
  type TargetWord,
} from './identity.ts';
export { findInterrupted, listRisks, migrateSource, reportBegun, requireEmpty, requireNotStarted } from './migrate.ts';
export {
  followMigration,
  leftoverLines,
  migrationFields,
  migrationView,
  nextSteps,
  printMigration,
  requireMigration,
  settleInterrupted,
  settleInterruptedOf,
  statusReader,
  undoNote,
} from './migration.ts';
export type { SourceBaseline } from './postgresql/baseline.ts';
export { parseRedisFacts } from './redis/facts.ts';
export { describeLostKeys, findLostKeys, keepRunKeys, type LostKeys, type RunKeys, readRunKeys } from './redis/lost.ts';
export type { StatusSample } from './sample.ts';
export {
  pollSource,
  saveWatchedTarget,
  sourceAddress,
} from './source.ts';
export { type LoggedState, nextLogLines } from './view/lines.ts';
export { renderScreen } from './view/screen.ts';
export { readWatchOptions, requireWatchFlag, watchMigration, watchOptions } from './watch.ts';
export type { PollResult } from './watcher.ts';
