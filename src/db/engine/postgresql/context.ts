import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { EngineSystem, PostgresInput } from '../input.ts';
import type { Leftover } from '../state.ts';
import type { ServerIdentity } from './identity.ts';
import { engineName } from './names.ts';
import { openPostgresSession } from './session.ts';
import { readSourceStatus, type SourceStatus } from './status.ts';

/** Data shared by all databases of one migration. */
export interface RunContext {
  readonly job: PostgresInput;
  readonly deps: EngineSystem;
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly poller: SlotPoller;
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
  readonly leftovers: Leftover[];
}

/** Runs a limited number of tasks at the same time; other tasks wait in the order in which they were added. */
type Semaphore = <T>(task: () => Promise<T>) => Promise<T>;

export function createSemaphore(width: number): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Reads the replication slots of all databases of the source in one query. */
export interface SlotPoller {
  /** Adds a replication slot to those that each poll reads. */
  addSlot(name: string): void;
  /** The status of the slot, at most half a poll interval old; undefined during an outage of the source. */
  poll(): Promise<SourceStatus | undefined>;
  /** The error of the present outage of the source. */
  outage(): unknown;
  close(): Promise<void>;
}

export function createSlotPoller(
  source: PostgresqlEndpoint,
  version: number,
  deps: EngineSystem,
  signal: AbortSignal,
): SlotPoller {
  const names = new Set<string>();
  const heldSession = openPostgresSession(source, deps, { name: engineName, signal });
  let end: string | undefined;
  let latest: Promise<SourceStatus | undefined> | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;
  let polledNames = new Set<string>();
  const poll = async () => {
    const slotNames = [...names];
    const status = await heldSession.run((session) => readSourceStatus(session, slotNames, end, version));
    end = status?.endLsn ?? end;
    return status;
  };
  return {
    addSlot: (name) => void names.add(name),
    poll() {
      const isFresh = performance.now() - polledAt < deps.limits.pollInterval / 2 && polledNames.size === names.size;
      if (latest === undefined || !isFresh) {
        polledAt = performance.now();
        polledNames = new Set(names);
        // Polls run one after another, because they share a session, and because each is compared with the previous
        // one.
        latest = (latest ?? Promise.resolve()).then(poll, poll);
      }
      return latest;
    },
    outage: heldSession.outage,
    close: heldSession.close,
  };
}
