import { type CredentialRecord, encodeCredentialRecord } from './credential-record.ts';
import type { CredentialStore, CredentialStoreUnavailable } from './credential-store.ts';

export type RecordLengthLimit = Pick<CredentialStore, 'maxLength'>;

export function isCredentialRecordStorable(
  { maxLength: limit = Number.POSITIVE_INFINITY }: RecordLengthLimit,
  record: CredentialRecord,
): boolean {
  return encodeCredentialRecord(record).reveal().length <= limit;
}

export function describeTooLongRecord(
  { maxLength: limit }: RecordLengthLimit,
  record: CredentialRecord,
): CredentialStoreUnavailable {
  const length = encodeCredentialRecord(record).reveal().length;
  return {
    kind: 'unavailable',
    why: 'too_long',
    reason: `the record has ${length} characters; a keychain item can store ${limit}`,
  };
}
