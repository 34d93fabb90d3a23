export { cleanUpFromJournal, createEngine, type EngineRun, type MigrationEngine, startRun } from './engine.ts';
export { defaultLimits, type EngineSystem, engineSystem } from './input.ts';
export {
  decodeSubscriptionOid,
  type EngineJournal,
  type JournalEntry,
  memoryJournal,
  type PostgresEntry,
  parseTargetBefore,
  type TargetBefore,
} from './journal.ts';
export type { DataPlane } from './plane.ts';
export { isServerSource, type RequestedSource } from './request.ts';
export { schemaCopier } from './schema/copy.ts';
export {
  allStreaming,
  type DatabasePhase,
  type DatabaseState,
  type EngineState,
  type Leftover,
  type TableProgress,
  type TableSyncState,
  type TransferMethod,
} from './state.ts';
