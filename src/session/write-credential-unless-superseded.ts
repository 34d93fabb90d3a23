import { type CredentialRecord, decodeCredentialRecord, isSameCredentialRecord } from './credential-record.ts';
import type { CredentialItemWriteResult, CredentialStore, OpenCredentialStore } from './credential-store.ts';
import { canRefreshReplaceCredentialRecord } from './renewed-credential-record.ts';
import { writeCredentialRecord } from './stored-session.ts';

/**
 * Writes the record that a refresh of `sent` has created, unless the store has changed since then: the lock excludes other
 * processes only on file systems that share locks. `superseded` means that the store contains a newer grant, another session or
 * no session, and was not changed.
 */
export async function writeCredentialUnlessSuperseded(
  store: CredentialStore,
  items: OpenCredentialStore,
  next: CredentialRecord,
  sent: CredentialRecord,
): Promise<CredentialItemWriteResult | { readonly kind: 'superseded' }> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  const stored = item.kind === 'found' ? decodeCredentialRecord(item.value.reveal()) : undefined;
  if (stored !== undefined && isSameCredentialRecord(stored, next)) return { kind: 'done' };
  return canRefreshReplaceCredentialRecord(stored, sent)
    ? writeCredentialRecord(store, items, next)
    : { kind: 'superseded' };
}
