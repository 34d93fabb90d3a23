import { quoteLiteral } from '../../../postgresql/quote.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import type { PostgresMigrationCleanupEntry } from '../migration-journal.ts';
import { querySingleValue, withEngineDatabaseSession } from './engine-session.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import type { SlotReplicationStatus } from './replication-status.ts';

/**
 * Returns a function that every poll of a database calls to find out whether the publication is missing. Most calls
 * return the previous result, because each query needs a session in that database of the source. A slot in use does not
 * prove that the publication exists: without the publication PostgreSQL 18 continues, but replicates nothing.
 */
export function createPublicationExistenceCheck(
  { name, source }: PostgresMigrationCleanupEntry,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): (slot: Pick<SlotReplicationStatus, 'active'>) => Promise<boolean> {
  let isMissing = false;
  let pollsSinceLook = 0;
  return async ({ active }) => {
    pollsSinceLook += 1;
    if (pollsSinceLook < (active && !isMissing ? pollsWhileActive : pollsWhileInactive)) return isMissing;
    pollsSinceLook = 0;
    const query = `SELECT count(*) FROM pg_publication WHERE pubname = ${quoteLiteral(name)}`;
    try {
      const count = await withEngineDatabaseSession(
        source,
        deps,
        { name: migrationEngineApplicationName, signal },
        (session) => querySingleValue(session, query),
      );
      isMissing = count === '0';
    } catch {
      // The poll of the slots reports an outage of the source.
    }
    return isMissing;
  };
}

const pollsWhileActive = 15;
const pollsWhileInactive = 3;
