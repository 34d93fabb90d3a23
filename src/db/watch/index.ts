export { type FailureCommands, failureHeadline, helpWithFailures } from './failures.ts';
export {
  confirmIdentity,
  formatIdentity,
  readServiceWord,
  type ServiceWord,
  silentService,
  type TargetWord,
} from './identity.ts';
export type { SourceBaseline } from './postgresql/baseline.ts';
export { parseRedisFacts } from './redis/facts.ts';
export { migrationTimeLimit, type StatusSample } from './sample.ts';
export {
  observeBefore,
  pollSource,
  recordNewSlots,
  type SourceBefore,
  saveWatchedTarget,
  sourceAddress,
} from './source.ts';
export {
  findRequests,
  isSameSource,
  plausibleStart,
  type RequestOutcome,
  resolveRequest,
  startMigration,
} from './start.ts';
export { type LoggedState, nextLogLines } from './view/lines.ts';
export { renderScreen } from './view/screen.ts';
export { type WatchOptions, watchMigration } from './watch.ts';
export type { PollResult } from './watcher.ts';
