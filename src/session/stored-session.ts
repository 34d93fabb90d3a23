import { CliError } from '../errors.ts';
import {
  type CredentialRecord,
  decodeRecord,
  encodeRecord,
  isBoundTo,
  refreshMarginSeconds,
  type SessionBinding,
  secondsUntilExpiry,
} from './credential-record.ts';
import {
  type CredentialItems,
  type CredentialStore,
  type ItemWriteResult,
  requireAvailable,
  type StoreUnavailable,
  storeUnavailableError,
} from './credential-store.ts';
import { profileCommand, scopeOption, scopeOptionUnlessDefault } from './suggested-commands.ts';

/** What the store holds for a profile, seen against what the profile points to now. */
export type StoredSession =
  | FoundSession
  /** `orphaned`: a refresh was on its way, and the item it was for is gone. */
  | { readonly kind: 'absent'; readonly orphaned?: boolean }
  | { readonly kind: 'damaged' }
  /** A session of other servers or another client id; it is left alone and never sent here. */
  | { readonly kind: 'elsewhere'; readonly record: CredentialRecord }
  | StoreUnavailable;

export interface FoundSession {
  readonly kind: 'found';
  /** The newest of the item and what its journal holds. */
  readonly record: CredentialRecord;
  /** It is not in the item yet. */
  readonly pending: boolean;
  /** A refresh of it was prepared, and no answer is known. */
  readonly inDoubt: boolean;
  /** The next command has something to do under the lock: promote, find out, or tidy. */
  readonly needsRecovery: boolean;
}

/** The current record, by the one rule that every reader follows (docs/sessions.md). Needs no lock. */
export async function readStoredSession(
  store: CredentialStore,
  items: CredentialItems,
  binding: SessionBinding,
): Promise<StoredSession> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  try {
    if (item.kind === 'absent') return store.journal.isOrphaned() ? { kind: 'absent', orphaned: true } : item;
    const record = decodeRecord(item.value.reveal());
    if (record === undefined) return { kind: 'damaged' };
    if (!isBoundTo(record, binding)) return { kind: 'elsewhere', record };
    const { hasObsoleteFiles: untidy, ...seen } = store.journal.inspect(record);
    const unsettled = untidy || seen.inDoubt || (seen.pending && fits(store, seen.record));
    return { kind: 'found', ...seen, needsRecovery: unsettled };
  } catch (error) {
    // A folder that cannot be listed may hold a newer record: that is not the same as none.
    return { kind: 'unavailable', why: 'file', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** What was found, or the error that tells why there is nothing. */
export function requireStoredSession(stored: StoredSession, profile: string, place: string): FoundSession {
  const known = requireAvailable(stored, profile);
  switch (known.kind) {
    case 'found':
      return known;
    case 'absent':
      if (known.orphaned === true) throw needsLoginError(profile, `its item is gone from the store: ${place}`);
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

export function requireRecord(stored: StoredSession, profile: string, place: string): CredentialRecord {
  return requireStoredSession(stored, profile, place).record;
}

/** Writes and reads back; `unavailable` leaves what was stored before. */
export async function writeCredentialRecord(
  store: CredentialStore,
  items: CredentialItems,
  record: CredentialRecord,
): Promise<ItemWriteResult> {
  return fits(store, record) ? items.write('credential', encodeRecord(record)) : recordTooLong(store, record);
}

/** Measured before anything is written: a keychain may cut off what it cannot hold. */
export function requireRecordFits(
  store: LengthLimit & Pick<CredentialStore, 'profile'>,
  record: CredentialRecord,
): void {
  if (!fits(store, record)) throw storeUnavailableError(recordTooLong(store, record), store.profile);
}

type LengthLimit = Pick<CredentialStore, 'maxLength'>;

function fits({ maxLength: limit = Number.POSITIVE_INFINITY }: LengthLimit, record: CredentialRecord): boolean {
  return encodeRecord(record).reveal().length <= limit;
}

function recordTooLong({ maxLength: limit }: LengthLimit, record: CredentialRecord): StoreUnavailable {
  const length = encodeRecord(record).reveal().length;
  return {
    kind: 'unavailable',
    why: 'too_long',
    reason: `the record has ${length} characters, a keychain item holds ${limit}`,
  };
}

export type TokenFreshness = 'valid' | 'expires_soon' | 'expired';

export function tokenFreshness(record: CredentialRecord, nowMs: number): TokenFreshness {
  const left = secondsUntilExpiry(record, nowMs);
  if (left <= 0) return 'expired';
  return left < refreshMarginSeconds ? 'expires_soon' : 'valid';
}

/**
 * `session` is what was stored: the hint then leads back to the same account and scope without a page, where that can be.
 * `flow`: the words that name its flow (`flowAgain`).
 */
export function needsLoginError(
  profile: string,
  detail: string,
  session?: EndedSession,
  flow: readonly string[] = [],
): CliError {
  return new CliError('needs_login', sessionEnded(profile), {
    detail,
    hint: reauthenticateCommand(profile, session, flow),
  });
}

export function sessionEnded(profile: string): string {
  return `the session of profile "${profile}" has ended`;
}

/** What is known of a session that has ended. */
export interface EndedSession {
  readonly scope: string;
  readonly accountUuid?: string;
}

/** The command that logs in again, with the same scope. Only the code flow names its account, and only there a login without a page exists (spec.md §4.1). */
export function reauthenticateCommand(
  profile: string,
  session: EndedSession | undefined,
  flow: readonly string[],
): string {
  const hint = accountHint(session?.accountUuid);
  if (session === undefined || hint === undefined) return loginCommand(profile, session?.scope, flow);
  const words = ['auth login', ...flow, '--prompt none', `--account-hint ${hint}`, ...scopeOption(session.scope)];
  return profileCommand(profile, words.join(' '));
}

/** The first 6 characters of an account's UUID (spec.md §4.1, parameter i). */
export function accountHint(uuid: string | undefined): string | undefined {
  const hint = uuid?.slice(0, 6).toLowerCase();
  return hint !== undefined && /^[0-9a-f]{6}$/.test(hint) ? hint : undefined;
}

/** `scope`: what was asked for; one that is wider than the default has to be asked for again. */
export function loginCommand(profile: string, scope?: string, flow: readonly string[] = []): string {
  return profileCommand(profile, ['auth login', ...flow, ...scopeOptionUnlessDefault(scope)].join(' '));
}

export async function loadStoredSession(store: CredentialStore, binding: SessionBinding): Promise<StoredSession> {
  return store.withItems((items) => readStoredSession(store, items, binding));
}
