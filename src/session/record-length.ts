import { type CredentialRecord, encodeCredentialRecord } from './credential-record.ts';
import type { CredentialStore, CredentialStoreUnavailable } from './credential-store.ts';

export type CredentialRecordLengthLimit = Pick<CredentialStore, 'maxLength'>;

export function isCredentialRecordWithinLengthLimit(
  { maxLength: limit = Number.POSITIVE_INFINITY }: CredentialRecordLengthLimit,
  record: CredentialRecord,
): boolean {
  return encodeCredentialRecord(record).reveal().length <= limit;
}

export function describeTooLongCredentialRecord(
  { maxLength: limit }: CredentialRecordLengthLimit,
  record: CredentialRecord,
): CredentialStoreUnavailable {
  const length = encodeCredentialRecord(record).reveal().length;
  return {
    kind: 'unavailable',
    why: 'too_long',
    reason: `the record has ${length} characters; a keychain item can store ${limit}`,
  };
}
