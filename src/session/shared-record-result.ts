import { Secret } from '../base/secret.ts';
import type { ProfileReference } from '../config/settings.ts';
import { encodeCredentialRecord } from './credential-record.ts';
import type { CredentialItemReadResult } from './credential-store.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { DecryptedSharedSession } from './sealed-session.ts';
import { formatMissingShareKeyHint } from './share-key-items.ts';

/** A decrypted record as the credential store returns it. */
export function buildSharedReadResult(
  opened: DecryptedSharedSession,
  kid: string,
  profile: ProfileReference,
): CredentialItemReadResult {
  switch (opened.kind) {
    case 'record':
      return { kind: 'found', value: encodeCredentialRecord(opened.record) };
    case 'tombstone':
      return { kind: 'absent', isEnded: true };
    case 'unknown_key':
      return unknownKeyFailure(opened, kid, profile);
    case 'damaged':
      // The decrypted text is not a session record, so callers report a damaged session.
      return { kind: 'found', value: damaged };
    default:
      return opened satisfies never;
  }
}

/** Why a record of the store cannot be used by this machine; undefined if it can. */
export function findSharedRecordFailure(
  opened: DecryptedSharedSession,
  kid: string,
  profile: ProfileReference,
): SharedStoreUnavailable | undefined {
  if (opened.kind === 'unknown_key') return unknownKeyFailure(opened, kid, profile);
  if (opened.kind !== 'damaged') return undefined;
  return {
    kind: 'unavailable',
    why: 'shared',
    reason: 'the record in the store is damaged, or was not written by a machine of the share',
    isRejected: true,
  };
}

function unknownKeyFailure(
  { isKeyFromVariable }: Extract<DecryptedSharedSession, { kind: 'unknown_key' }>,
  kid: string,
  profile: ProfileReference,
): SharedStoreUnavailable {
  return {
    kind: 'unavailable',
    why: 'shared',
    reason: `the session is encrypted with the key ${kid}, which this machine does not have`,
    hint: formatMissingShareKeyHint(profile, isKeyFromVariable),
    isRejected: true,
  };
}

const damaged = new Secret('damaged', '[damaged]');
