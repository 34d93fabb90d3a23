import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { EngineDependencies } from '../migration-job.ts';
import { holdPostgresSession } from './engine-session.ts';
import { engineApplicationName } from './object-names.ts';
import { readSourceStatus, type SourceReplicationStatus } from './replication-status.ts';

/** Looks at the source for all databases at once. */
export interface SourcePoller {
  /** Adds a slot to those that are looked at. */
  addSlot(name: string): void;
  /** A look that is not older than half of the time between two; undefined during an outage. */
  poll(): Promise<SourceReplicationStatus | undefined>;
  close(): Promise<void>;
}

export function createSourcePoller(
  source: PostgresqlSource,
  version: number,
  ports: EngineDependencies,
  signal: AbortSignal,
): SourcePoller {
  const names = new Set<string>();
  const held = holdPostgresSession(source, ports, { name: engineApplicationName, signal });
  let end: string | undefined;
  let latest: Promise<SourceReplicationStatus | undefined> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  let seen = new Set<string>();
  const look = async () => {
    const asked = [...names];
    const found = await held.run((session) => readSourceStatus(session, asked, end, version));
    end = found?.endLsn ?? end;
    return found;
  };
  return {
    addSlot: (name) => void names.add(name),
    poll() {
      const isFresh = performance.now() - at < ports.limits.pollInterval / 2 && seen.size === names.size;
      if (latest === undefined || !isFresh) {
        at = performance.now();
        seen = new Set(names);
        // One after another: the session is one, and each look compares with the one before.
        latest = (latest ?? Promise.resolve()).then(look, look);
      }
      return latest;
    },
    close: held.close,
  };
}
