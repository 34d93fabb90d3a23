import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { openReconnectingPostgresSession } from './engine-session.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import { type PostgresqlSourceReplicationStatus, readPostgresqlSourceReplicationStatus } from './replication-status.ts';

/** Reads the replication slots of all databases of the source in one query. */
export interface SourceSlotPoller {
  /** Adds a replication slot to those that each poll reads. */
  addSlot(name: string): void;
  /** The status of the slot, at most half a poll interval old; undefined during an outage of the source. */
  poll(): Promise<PostgresqlSourceReplicationStatus | undefined>;
  /** The error of the present outage of the source. */
  outage(): unknown;
  close(): Promise<void>;
}

export function createSourceSlotPoller(
  source: PostgresqlEndpoint,
  version: number,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): SourceSlotPoller {
  const names = new Set<string>();
  const heldSession = openReconnectingPostgresSession(source, deps, { name: migrationEngineApplicationName, signal });
  let end: string | undefined;
  let latest: Promise<PostgresqlSourceReplicationStatus | undefined> | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;
  let polledNames = new Set<string>();
  const poll = async () => {
    const slotNames = [...names];
    const status = await heldSession.run((session) =>
      readPostgresqlSourceReplicationStatus(session, slotNames, end, version),
    );
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
