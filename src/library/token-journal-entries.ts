import {
  encodeRefreshJournalHeader,
  encryptRefreshJournal,
  refreshJournalEncryptionOverhead,
  refreshTokenFingerprint,
} from '../auth/session/encrypted-journal.ts';
import { Secret } from '../base/secret.ts';
import { encodeStoredTokens, type StoredTokens } from './stored-tokens.ts';
import type { TokenJournal } from './token-store.ts';

/**
 * Begins a journal entry for the grant of a refresh, and reserves its space. The result is a function that encrypts the
 * refreshed session and writes it into that space. Rejects when there is no space.
 * @param onlyCopy the entry of a grant that the store does not have; it stays in the journal before the new entry
 */
export async function reserveTokenJournalEntry(
  journal: TokenJournal,
  session: StoredTokens,
  refreshToken: string,
  onlyCopy: Uint8Array = new Uint8Array(),
): Promise<(next: StoredTokens) => Promise<void>> {
  const head = encodeRefreshJournalHeader({
    sid: session.id,
    gen: session.generation + 1,
    fingerprint: refreshTokenFingerprint(new Secret(refreshToken)),
    sentAt: Math.floor(Date.now() / 1000),
    pid: process.pid,
  });
  const room = computeReservedBytes(session);
  const writeGrant = await journal.begin(Buffer.concat([onlyCopy, Buffer.from(head)]), room);
  return async (next) => {
    const nonce = crypto.getRandomValues(new Uint8Array(12));
    await writeGrant(
      encryptRefreshJournal(head, new Secret(session.journalKey), encodeStoredTokens(next), room, nonce),
    );
  };
}

/**
 * The entries of a journal, the newest first. There are two while the grant of the first entry is in no store and a later
 * refresh has begun. The rest of an entry is encrypted or zero, so that the start of a header occurs nowhere else.
 */
export function splitTokenJournalEntries(journal: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(journal);
  const start = Math.max(0, bytes.lastIndexOf(headerStart));
  return [bytes.subarray(start), bytes.subarray(0, start)].filter((entry) => entry.length > 0);
}

/** How `encodeRefreshJournalHeader` begins. */
const headerStart = '{"op":"refresh",';

/** Twice the size of the present session, in whole blocks of 4 KiB, because the next tokens may be longer. */
function computeReservedBytes(session: StoredTokens): number {
  return 4096 * Math.ceil((2 * encodeStoredTokens(session).length + refreshJournalEncryptionOverhead) / 4096);
}
