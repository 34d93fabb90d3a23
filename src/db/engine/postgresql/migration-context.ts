import type { MigrationLeftoverObject } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies, PostgresMigrationEngineInput } from '../migration-engine-input.ts';
import type { Semaphore } from '../semaphore.ts';
import type { PostgresqlServerIdentity } from './server-identity.ts';
import type { SourceSlotPoller } from './source-slot-poller.ts';

/** Data shared by all databases of one migration. */
export interface PostgresMigrationEngineContext {
  readonly job: PostgresMigrationEngineInput;
  readonly deps: MigrationEngineDependencies;
  readonly source: PostgresqlServerIdentity;
  readonly target: PostgresqlServerIdentity;
  readonly poller: SourceSlotPoller;
  /** Semaphore that limits how many databases are set up at the same time. */
  readonly setupSemaphore: Semaphore;
  /**
   * Semaphore that lets one subscription be created at a time, so that each check of free workers counts the earlier
   * subscriptions.
   */
  readonly subscribeMutex: Semaphore;
  /**
   * Signal that is aborted when the migration is stopped; the work on databases that do not replicate yet then ends at once.
   */
  readonly stop: AbortSignal;
  /** Signal that is aborted by `stop`, or when nothing is left to replicate. */
  readonly end: AbortSignal;
  readonly leftovers: MigrationLeftoverObject[];
}
