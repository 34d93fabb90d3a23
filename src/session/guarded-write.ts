import { type CredentialRecord, decodeRecord, isSameCredentialRecord } from './credential-record.ts';
import type { CredentialItems, CredentialStore, ItemWriteResult } from './credential-store.ts';
import { canReplaceRecord } from './renewed-record.ts';
import { writeCredentialRecord } from './stored-session.ts';

/** `superseded` means that the store contains a newer grant, another session or no session, and was not changed. */
export type ConditionalWriteResult = ItemWriteResult | { readonly kind: 'superseded' };

/**
 * Writes the record that a refresh of `sent` has created, unless the store has changed since then: the lock excludes other
 * processes only on file systems that share locks.
 */
export async function writeUnlessSuperseded(
  store: CredentialStore,
  items: CredentialItems,
  next: CredentialRecord,
  sent: CredentialRecord,
): Promise<ConditionalWriteResult> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  const stored = item.kind === 'found' ? decodeRecord(item.value.reveal()) : undefined;
  if (stored !== undefined && isSameCredentialRecord(stored, next)) return { kind: 'done' };
  return canReplaceRecord(stored, sent) ? writeCredentialRecord(store, items, next) : { kind: 'superseded' };
}
