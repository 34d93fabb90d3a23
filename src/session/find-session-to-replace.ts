import {
  compareSharedSessionVersions,
  type SharedSessionEntry,
  type SharedSessionVersion,
} from '../shared-store/shared-session.ts';
import type { ReplacedSession } from './credential-store.ts';
import type { DecryptedLocalSessionCopy } from './local-shared-session-copy.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { type DecryptedSharedSession, isReadableSharedSession } from './sealed-session.ts';
import { readJournaledOrStoredCredentialRecord } from './stored-session.ts';

/**
 * The session that a login or a logout is about to replace: the newest record of the store's row, the copy and the journal that
 * this machine can decrypt. Undefined if there is none, or if a logout has ended the session.
 */
export function findSessionToReplace(
  row: SharedSessionEntry | undefined,
  open: (row: SharedSessionEntry) => DecryptedSharedSession,
  known: DecryptedLocalSessionCopy,
  journal: RefreshJournal,
): ReplacedSession | undefined {
  const ofRow = row === undefined ? undefined : readable(row, open(row));
  const ofCopy = known.copy === undefined ? undefined : readable(known.copy, known.opened);
  const newest = ofCopy !== undefined && (ofRow === undefined || isNewer(ofCopy, ofRow)) ? ofCopy : ofRow;
  if (newest?.opened.kind !== 'record') return undefined;
  return {
    record: readJournaledOrStoredCredentialRecord(journal, newest.opened.record),
    isEndedElsewhere: false,
  };
}

interface ReadableSession {
  readonly version: SharedSessionVersion;
  readonly opened: Extract<DecryptedSharedSession, { kind: 'record' | 'tombstone' }>;
}

function readable(
  { epoch, sid, gen }: SharedSessionVersion,
  opened: DecryptedSharedSession | undefined,
): ReadableSession | undefined {
  return isReadableSharedSession(opened) ? { version: { epoch, sid, gen }, opened } : undefined;
}

function isNewer(one: ReadableSession, other: ReadableSession): boolean {
  return compareSharedSessionVersions(one.version, other.version) === 'newer';
}
