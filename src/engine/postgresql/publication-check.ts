import { quoteLiteral } from '../../postgresql/quote.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { PostgresJournalEntry } from '../migration-journal.ts';
import { querySingleValue, withEngineSession } from './engine-session.ts';
import { engineApplicationName } from './object-names.ts';
import type { SlotReplicationStatus } from './replication-status.ts';

/**
 * Returns a function that every poll of a database calls to find out whether the publication is missing. Most calls
 * return the previous result, because each query needs a session in that database of the source. A slot in use does not
 * prove that the publication exists: without the publication PostgreSQL 18 continues, but replicates nothing.
 */
export function createPublicationCheck(
  { name, source }: PostgresJournalEntry,
  deps: EngineDependencies,
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
      const count = await withEngineSession(source, deps, { name: engineApplicationName, signal }, (session) =>
        querySingleValue(session, query),
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
