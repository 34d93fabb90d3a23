import type { EngineDependencies, PostgresMigrationJob } from '../migration-job.ts';
import type { LeftoverObject } from '../migration-state.ts';
import type { Semaphore } from '../semaphore.ts';
import type { ServerIdentity } from './server-identity.ts';
import type { SourcePoller } from './source-poller.ts';

/** Shared by all databases of one migration. */
export interface PostgresMigrationContext {
  readonly job: PostgresMigrationJob;
  readonly deps: EngineDependencies;
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly poller: SourcePoller;
  /** Limits how many databases are set up at the same time. */
  readonly setupSemaphore: Semaphore;
  /** One subscription at a time, so that each check of free workers counts the earlier ones. */
  readonly subscribeMutex: Semaphore;
  /** Aborted when the migration is stopped; databases that are not replicating yet end at once. */
  readonly stop: AbortSignal;
  /** Aborted by `stop`, or when nothing is left to replicate. */
  readonly end: AbortSignal;
  readonly leftovers: LeftoverObject[];
}
