import { CliError } from '../../base/errors.ts';
import { describeAccount } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { Binding, ProfileReference } from '../../config/settings.ts';
import type { HeldLock } from '../../platform/locks.ts';
import { type EndedSession, loginCommand, reloginCommand, withTokenOption } from './hints.ts';
import { findNewest, type Newest } from './journal.ts';
import { listJournals } from './paths.ts';
import { belongsTo, decodeRecord, describeLifetime, encodeRecord, recordCodec, type SessionRecord } from './record.ts';
import { flowOfSession, type SessionRun } from './run.ts';
import {
  type CredentialStore,
  fileUnavailable,
  type ItemWritten,
  type OpenStore,
  requireAvailable,
  type StoreUnavailable,
  unavailableError,
} from './store.ts';

/** The stored session of a profile, compared with the current settings of the profile. */
export type StoredSession =
  | FoundSession
  /** `orphaned` is true if journals of a refresh exist, but the item of their session is missing in the keychain. */
  | { readonly kind: 'absent'; readonly orphaned: boolean }
  | { readonly kind: 'damaged' }
  /** A session that belongs to other servers or another client ID than the profile, so it is neither changed nor sent. */
  | { readonly kind: 'elsewhere'; readonly record: SessionRecord }
  | StoreUnavailable;

/** A session with its newest record, which is in the store or in the journal. */
export interface FoundSession extends Newest<SessionRecord> {
  readonly kind: 'found';
  /** Whether only the journal contains the record. */
  readonly pending: boolean;
  /** Whether the next command must recover the session under the lock. */
  readonly needsRecovery: boolean;
}

/** Reads the newest record of the session by the rule that applies to every reader (docs/sessions.md), without a lock. */
export async function readSession(store: CredentialStore, items: OpenStore, binding: Binding): Promise<StoredSession> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  try {
    // A file is missing only if it was removed on purpose, by a user or by `sandbox start`.
    if (item.kind === 'absent')
      return { kind: 'absent', orphaned: store.kind === 'keychain' && listJournals(store.place).length > 0 };
  } catch (error) {
    // A folder that cannot be listed may contain a newer record, so the session is unavailable.
    return fileUnavailable(error);
  }
  const record = decodeRecord(item.value);
  if (record === undefined) return { kind: 'damaged' };
  if (!belongsTo(record, binding)) return { kind: 'elsewhere', record };
  const newest = await readNewest(store, record);
  const pending = newest.onlyCopy !== undefined;
  const isTooLong = findTooLong(store, newest.record) !== undefined;
  const needsRecovery = newest.isObsolete || newest.inDoubt || (pending && !isTooLong);
  return { kind: 'found', ...newest, pending, needsRecovery };
}

/**
 * The newest record of the session of `stored`. A journal that cannot be read may have a newer record: the session is then in
 * doubt, and no refresh is sent.
 */
export async function readNewest(store: CredentialStore, stored: SessionRecord): Promise<Newest<SessionRecord>> {
  try {
    return findNewest(await store.journal(stored.sid).read(), stored, recordCodec);
  } catch {
    return { record: stored, inDoubt: stored.refreshToken !== undefined, isObsolete: false };
  }
}

/** Returns the stored session; throws `not_logged_in`, `needs_login` or `keychain_unavailable` when there is no usable session. */
export function requireSession(stored: StoredSession, profile: ProfileReference, location: string): FoundSession {
  const known = requireAvailable(stored, profile);
  switch (known.kind) {
    case 'found':
      return known;
    case 'absent':
      if (known.orphaned)
        throw needsLoginError(profile, `the item of the session is missing in the credential store: ${location}`);
      throw new CliError('not_logged_in', `profile "${profile.name}" is not logged in`, {
        detail:
          profile.name === 'sandbox'
            ? 'a new sandbox has no sessions, and each start without `--state DIR` makes a new one'
            : undefined,
        hint: loginCommand(profile),
      });
    case 'damaged':
      throw new CliError('not_logged_in', 'the stored session is damaged or was written by a newer version', {
        detail: `the session was not changed: ${location}`,
        hint: loginCommand(profile),
      });
    case 'elsewhere':
      throw new CliError('not_logged_in', `profile "${profile.name}" is logged in to other servers`, {
        detail: `the stored session belongs to ${known.record.authOrigin} and ${known.record.baseOrigin}, and is not sent to other servers`,
        hint: hintOfOtherServers(profile, known.record.scope),
      });
    default:
      return known satisfies never;
  }
}

/** Only a session of a profile whose stored servers were changed needs a new login. */
function hintOfOtherServers(profile: ProfileReference, scope: string): string {
  const { replacedBy, typedServers } = profile;
  if (typedServers !== undefined) return `use the servers of the profile: remove ${typedServers.join(' and ')}`;
  if (replacedBy !== undefined) return `use the servers of the profile: \`unset ${replacedBy.join(' ')}\``;
  return `log in to the servers of the profile: ${loginCommand(profile, scope)}`;
}

/** Writes the session record and reads it back. If the result is `unavailable`, the previous item may still be stored. */
export async function writeRecord(
  store: CredentialStore,
  items: OpenStore,
  record: SessionRecord,
): Promise<ItemWritten> {
  return findTooLong(store, record) ?? items.write('credential', encodeRecord(record));
}

/**
 * Throws `keychain_unavailable` for a record that is too long. The length is checked before a write, because a keychain may
 * truncate the item.
 */
export function requireLength(store: Pick<CredentialStore, 'maxLength' | 'profile'>, record: SessionRecord): void {
  const tooLong = findTooLong(store, record);
  if (tooLong !== undefined) throw unavailableError(tooLong, store.profile);
}

function findTooLong(
  { maxLength = Number.POSITIVE_INFINITY }: Pick<CredentialStore, 'maxLength'>,
  record: SessionRecord,
): StoreUnavailable | undefined {
  const { length } = encodeRecord(record);
  if (length <= maxLength) return undefined;
  const reason = `the record has ${length} characters; a keychain item can store ${maxLength}`;
  return { kind: 'unavailable', why: 'too_long', reason };
}

/**
 * The error `needs_login`; with `session`, its hint is a login to the same account and scope, without a page if possible.
 * @param flow the option that selects the flow of the session (`flowOption`)
 */
export function needsLoginError(
  profile: ProfileReference,
  detail: string,
  session?: EndedSession,
  flow: readonly string[] = [],
): CliError {
  return new CliError('needs_login', endedMessage(profile), {
    detail,
    hint: session?.isGivenToken === true ? newTokenHint(profile) : reloginCommand(profile, session, flow),
  });
}

function newTokenHint(profile: ProfileReference): string {
  return `log in again with a new access token: ${loginCommand(profile, undefined, [withTokenOption])}`;
}

/** Why there is no refresh token, as a clause. */
export function whyNotRenewable({ isGivenToken, isRefused }: SessionRecord): string {
  if (isGivenToken === true) return 'the session cannot be renewed';
  return isRefused === true
    ? 'the authorization server has refused its refresh token'
    : 'the session has no refresh token';
}

/** The error `needs_login` of `auth refresh` for a session without a refresh token whose access token is still valid. */
export function notRenewableError(
  profile: ProfileReference,
  record: SessionRecord,
  flow: readonly string[],
  nowMs: number,
): CliError {
  const { isGivenToken, isRefused } = record;
  const reason =
    isRefused === true ? 'the authorization server has refused its refresh token' : 'it has no refresh token';
  const valid = `the access token is valid ${describeLifetime(record.expiresAt, nowMs)}`;
  return new CliError('needs_login', `cannot refresh the session of profile "${profile.name}": ${reason}`, {
    detail:
      isGivenToken === true
        ? 'the access token was given to `auth login --with-token`, and its lifetime is not known'
        : isRefused === true
          ? valid
          : `${valid}; the implicit flow and some servers issue no refresh token`,
    hint:
      isGivenToken === true
        ? newTokenHint(profile)
        : `log in again before the access token expires: ${loginCommand(profile, record.scope, flow)}`,
  });
}

/** The error `needs_login` of a session that ended because a refresh was answered with a grant of another account or team. */
export function otherAccountError(run: Pick<SessionRun, 'host' | 'settings'>, record: SessionRecord): CliError {
  const { otherGrant } = record;
  const revoked = otherGrant?.isRevoked === true ? 'was revoked' : 'is not used, and could not be revoked yet';
  const detail = `the session belongs to ${describeAccount(record)}; the server answered a refresh for ${sanitizeLine(describeAccount(otherGrant ?? {}))}; that grant ${revoked}`;
  return needsLoginError(run.settings.profile, detail, record, flowOfSession(run, record.sid));
}

export function endedMessage(profile: ProfileReference): string {
  return `the session of profile "${profile.name}" has ended`;
}

export async function loadSession(store: CredentialStore, binding: Binding): Promise<StoredSession> {
  return store.withItems((items) => readSession(store, items, binding));
}

/** Deletes a session that is of other servers or cannot be read. */
export async function removeForeign(store: CredentialStore, binding: Binding, lock: HeldLock): Promise<void> {
  await store.withItems(async (items) => {
    const { kind } = await readSession(store, items, binding);
    if (kind === 'elsewhere' || kind === 'damaged') await items.remove('credential');
  }, lock);
}
