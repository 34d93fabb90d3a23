import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { EngineDependencies } from '../migration-job.ts';
import { openReconnectingSession } from './engine-session.ts';
import { engineApplicationName } from './object-names.ts';
import { readSourceStatus, type SourceReplicationStatus } from './replication-status.ts';

/** Reads the replication slots of all databases of the source in one query. */
export interface SourcePoller {
  /** Adds a replication slot to the query. */
  addSlot(name: string): void;
  /** The status of the slot, at most half a poll interval old; undefined during an outage of the source. */
  poll(): Promise<SourceReplicationStatus | undefined>;
  /** The error of the present outage of the source. */
  outage(): unknown;
  close(): Promise<void>;
}

export function createSourcePoller(
  source: PostgresqlSource,
  version: number,
  deps: EngineDependencies,
  signal: AbortSignal,
): SourcePoller {
  const names = new Set<string>();
  const heldSession = openReconnectingSession(source, deps, { name: engineApplicationName, signal });
  let end: string | undefined;
  let latest: Promise<SourceReplicationStatus | undefined> | undefined;
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
