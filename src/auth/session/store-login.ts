import type { AccountDetails } from '../../api/account-details.ts';
import { Secret } from '../../base/secret.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import type { Clock } from '../../platform/host.ts';
import { accountAndTeam, assumedLifetime, scopeWords, type TokenGrant } from '../oauth/index.ts';
import { accountFromGrant, type LoggedInAccount } from './account.ts';
import {
  type CredentialRecord,
  decodeCredentialRecord,
  isCredentialRecordOfServerBinding,
  type SessionServerBinding,
  unknownTokenExpiry,
} from './credential-record.ts';
import { type CredentialStore, type OpenCredentialStore, requireCredentialStoreAvailable } from './credential-store.ts';
import type { OAuthLoginOptions } from './oauth-login-options.ts';
import {
  readJournaledOrStoredCredentialRecord,
  requireCredentialRecordLengthLimit,
  writeCredentialRecord,
} from './stored-session.ts';

export interface StoreLoginSessionDeps {
  readonly binding: SessionServerBinding;
  readonly store: CredentialStore;
  /** Acquires the session lock of the profile, only while the record is written. */
  readonly lock: () => Promise<HeldFileLock>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly writeAccount: (account: LoggedInAccount) => void;
}

export interface LoginResult {
  readonly record: CredentialRecord;
  readonly account: LoggedInAccount;
  /** Whether the grant named no scope, so that the requested scope is assumed. */
  readonly isScopeAssumed: boolean;
  /** Whether the grant named no lifetime, so that the lifetime of docs/service.md S2.7 is assumed. */
  readonly isLifetimeAssumed: boolean;
  readonly isAccountKnown: boolean;
  /** The session that the login replaced, if it was at the same servers. */
  readonly replaced: CredentialRecord | undefined;
}

/**
 * Stores a grant as a new session, which replaces the stored one. Throws `keychain_unavailable` or `busy` when the session
 * cannot be stored.
 */
export async function storeLoginSession(
  deps: StoreLoginSessionDeps,
  grant: TokenGrant,
  { scope, flow }: { readonly scope: string; readonly flow: OAuthLoginOptions['flow'] },
): Promise<LoginResult> {
  const record = newRecord(deps, grant, scope);
  const account = accountFromGrant(record.sid, grant.info, record.scope, flow);
  const replaced = await storeRecord(deps, record, account);
  return {
    record,
    replaced,
    account,
    isScopeAssumed: grant.scope === undefined,
    isLifetimeAssumed: grant.expiresIn === undefined,
    isAccountKnown: grant.info !== undefined,
  };
}

/** The access token of `auth login --with-token`, and the account that the resource API returned for it. */
export interface GivenTokenWithAccount {
  readonly accessToken: Secret;
  readonly account: AccountDetails;
  /** The scope that the user stated; empty if it is not known. */
  readonly scope: string;
}

/** Stores the access token of `auth login --with-token` as a new session, which cannot be renewed (docs/sessions.md). */
export async function storeGivenToken(
  deps: StoreLoginSessionDeps,
  { accessToken, account: { accountUuid, team, name, email, teamName }, scope }: GivenTokenWithAccount,
): Promise<LoginResult> {
  const known = { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
  const expiresAt = unknownTokenExpiry;
  const record = {
    ...newRecord(deps, { accessToken }, scope),
    scope,
    ...known,
    expiresAt,
    isGivenToken: true as const,
  };
  // The account file gets no UUID: a UUID gives the file a `hint`, which means that a grant named the account
  // (isServerKnownToImplementSpec).
  const names = Object.entries({ name, email, teamName }).filter(([, value]) => value !== undefined);
  const account = accountFromGrant(record.sid, Object.fromEntries(names), record.scope, 'token');
  const replaced = await storeRecord(deps, record, account);
  const isAccountKnown = accountUuid !== undefined;
  return {
    record,
    replaced,
    account,
    isScopeAssumed: false,
    isLifetimeAssumed: false,
    isAccountKnown,
  };
}

/** Returns the session that was replaced, if it was at the same servers. */
async function storeRecord(
  deps: StoreLoginSessionDeps,
  record: CredentialRecord,
  account: LoggedInAccount,
): Promise<CredentialRecord | undefined> {
  requireCredentialRecordLengthLimit(deps.store, record);
  const lock = await deps.lock();
  try {
    const replaced = await deps.store.withItems((items) => replaceStoredRecord(deps, items, record), lock);
    writeAccountOrSkip(deps, account);
    return replaced;
  } finally {
    lock.release();
  }
}

/**
 * The account file is used for display only. The session is already stored, so a config folder that cannot be written must not
 * end the login with an error.
 */
function writeAccountOrSkip({ writeAccount }: StoreLoginSessionDeps, account: LoggedInAccount): void {
  try {
    writeAccount(account);
  } catch {
    // Without the account file, `auth status` and `auth list` show only the UUID.
  }
}

function newRecord(
  { clock, random, binding }: StoreLoginSessionDeps,
  grant: TokenGrant,
  scope: string,
): CredentialRecord {
  const now = Math.floor(clock.now() / 1000);
  return {
    sid: Buffer.from(random(8)).toString('hex'),
    gen: 1,
    journalKey: new Secret(Buffer.from(random(32)).toString('base64url')),
    accessToken: grant.accessToken,
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    expiresAt: now + (grant.expiresIn ?? assumedLifetime),
    obtainedAt: now,
    scope: scopeWords(scope).join(' '),
    ...accountAndTeam(grant.info),
    ...binding,
  };
}

/** Replacing the item deletes the key of the previous session's journal, so its journal files are removed as well. */
async function replaceStoredRecord(
  { store, binding }: StoreLoginSessionDeps,
  items: OpenCredentialStore,
  record: CredentialRecord,
): Promise<CredentialRecord | undefined> {
  const before = await items.read('credential');
  requireCredentialStoreAvailable(await writeCredentialRecord(store, items, record), store.profile);
  const old = before.kind === 'found' ? decodeCredentialRecord(before.value.reveal()) : undefined;
  const replaced =
    old !== undefined && isCredentialRecordOfServerBinding(old, binding)
      ? readJournaledOrStoredCredentialRecord(store.journal, old)
      : undefined;
  // Without an old record, too: the files of the file store do not name their session, and would put the new one in doubt.
  store.journal.removeSession((old ?? record).sid);
  return replaced;
}
