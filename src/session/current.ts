import { CliError } from '../errors.ts';
import {
  type Binding,
  type CredentialRecord,
  decodeRecord,
  encodeRecord,
  isBoundTo,
  recordLimit,
  refreshMargin,
  secondsLeft,
} from './record.ts';
import { type CredentialStore, type Items, requireAvailable, type StoreUnavailable } from './store.ts';

/** What the store holds for a profile, seen against what the profile points to now. */
export type Stored =
  | { readonly kind: 'found'; readonly record: CredentialRecord }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged' }
  /** A session of other servers or another client id; it is left alone and never sent here. */
  | { readonly kind: 'elsewhere'; readonly record: CredentialRecord }
  | StoreUnavailable;

export async function readStored(items: Items, binding: Binding): Promise<Stored> {
  const item = await items.read('credential');
  if (item.kind !== 'found') return item;
  const record = decodeRecord(item.value.reveal());
  if (record === undefined) return { kind: 'damaged' };
  return { kind: isBoundTo(record, binding) ? 'found' : 'elsewhere', record };
}

/** The record, or the error that tells why there is none. */
export function requireRecord(stored: Stored, profile: string, place: string): CredentialRecord {
  const known = requireAvailable(stored);
  switch (known.kind) {
    case 'found':
      return known.record;
    case 'absent':
      throw new CliError('not_logged_in', `profile "${profile}" is not logged in`, { hint: loginCommand(profile) });
    case 'damaged':
      throw new CliError('not_logged_in', 'the stored session is damaged or of a newer version', {
        detail: `it was left as it is: ${place}`,
        hint: loginCommand(profile),
      });
    case 'elsewhere':
      throw new CliError('not_logged_in', `profile "${profile}" is logged in to other servers`, {
        detail: `its session belongs to ${known.record.authOrigin} with ${known.record.baseOrigin}, and is never sent elsewhere`,
        hint: `log in under a profile of its own: \`cloudctl auth login --profile NAME\``,
      });
    default:
      return known satisfies never;
  }
}

/** Writes and reads back; `unavailable` leaves what was stored before. */
export async function writeRecord(
  items: Items,
  record: CredentialRecord,
): Promise<{ readonly kind: 'done' } | StoreUnavailable> {
  return items.write('credential', encodeRecord(record));
}

/** Both stores share the limit, so that a session can move between them. */
export function requireFits(record: CredentialRecord): void {
  const length = encodeRecord(record).reveal().length;
  if (length <= recordLimit) return;
  throw new CliError('api_error', 'could not store the session: the tokens are too long', {
    detail: `the record has ${length} characters, a keychain item holds ${recordLimit}`,
  });
}

export type Freshness = 'valid' | 'expires_soon' | 'expired';

export function freshness(record: CredentialRecord, nowMs: number): Freshness {
  const left = secondsLeft(record, nowMs);
  if (left <= 0) return 'expired';
  return left < refreshMargin ? 'expires_soon' : 'valid';
}

export function needsLogin(profile: string, detail: string): CliError {
  return new CliError('needs_login', `the session of profile "${profile}" has ended`, {
    detail,
    hint: loginCommand(profile),
  });
}

export function loginCommand(profile: string): string {
  return profile === 'default' ? '`cloudctl auth login`' : `\`cloudctl auth login --profile ${profile}\``;
}

export async function readOnce(store: CredentialStore, binding: Binding): Promise<Stored> {
  return store.visit((items) => readStored(items, binding));
}
