import type { AccountDetails } from '../api/account-context.ts';
import { scopeWords } from '../oauth/scope.ts';
import { accountContextOf, assumedLifetimeSeconds, type TokenGrant } from '../oauth/token-grant.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { Clock } from '../platform/host.ts';
import { Secret } from '../secret.ts';
import { type Account, accountFromGrant } from './account.ts';
import {
  type CredentialRecord,
  decodeRecord,
  isRecordOfBinding,
  type SessionBinding,
  unknownExpiry,
} from './credential-record.ts';
import { type CredentialItems, type CredentialStore, requireAvailable } from './credential-store.ts';
import type { LoginRequest } from './login-request.ts';
import { newestRecord, requireStorableLength, writeCredentialRecord } from './stored-session.ts';

export interface StoreLoginDeps {
  readonly binding: SessionBinding;
  readonly store: CredentialStore;
  /** The session lock of the profile: held only while the record is written. */
  readonly lock: () => Promise<HeldLock>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly writeAccount: (account: Account) => void;
}

export interface LoginResult {
  readonly record: CredentialRecord;
  readonly account: Account;
  /** The grant named no scope, so the requested one is assumed. */
  readonly isScopeAssumed: boolean;
  /** The grant named no lifetime, so that of spec.md §8 is assumed. */
  readonly isLifetimeAssumed: boolean;
  readonly isAccountKnown: boolean;
  /** The session that was replaced, at the same servers. */
  readonly replaced: CredentialRecord | undefined;
}

/** Stores a grant as a new session in place of the one that was stored before. Throws `keychain_unavailable` or `busy`. */
export async function storeLogin(
  deps: StoreLoginDeps,
  grant: TokenGrant,
  { scope, flow }: { readonly scope: string; readonly flow: LoginRequest['flow'] },
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

/** An access token from elsewhere, and what the resource API says about it. */
export interface GivenToken {
  readonly accessToken: Secret;
  readonly account: AccountDetails;
  /** As the user states it; empty: not known. */
  readonly scope: string;
}

/** Stores an access token that was given to the program as a new session; it cannot be renewed (docs/sessions.md). */
export async function storeGivenToken(
  deps: StoreLoginDeps,
  { accessToken, account: { accountUuid, team, name, email, teamName }, scope }: GivenToken,
): Promise<LoginResult> {
  const known = { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
  const expiresAt = unknownExpiry;
  const record = {
    ...newRecord(deps, { accessToken }, scope),
    scope,
    ...known,
    expiresAt,
    isGivenToken: true as const,
  };
  // Without the UUID: its first characters in the file say that a grant named the account (isSpecServer).
  const names = Object.entries({ name, email, teamName }).filter(([, value]) => value !== undefined);
  const account = accountFromGrant(record.sid, Object.fromEntries(names), record.scope, 'token');
  const replaced = await storeRecord(deps, record, account);
  const isAccountKnown = accountUuid !== undefined;
  return { record, replaced, account, isScopeAssumed: false, isLifetimeAssumed: false, isAccountKnown };
}

/** @returns the session that was replaced, at the same servers */
async function storeRecord(
  deps: StoreLoginDeps,
  record: CredentialRecord,
  account: Account,
): Promise<CredentialRecord | undefined> {
  requireStorableLength(deps.store, record);
  const lock = await deps.lock();
  try {
    const replaced = await deps.store.withItems((items) => replaceStoredRecord(deps, items, record), lock);
    writeAccountOrSkip(deps, account);
    return replaced;
  } finally {
    lock.release();
  }
}

/** The file is for display only. The session is stored already, so a config folder that cannot be written must not end it. */
function writeAccountOrSkip({ writeAccount }: StoreLoginDeps, account: Account): void {
  try {
    writeAccount(account);
  } catch {
    // Status and lists then show the UUID alone.
  }
}

function newRecord({ clock, random, binding }: StoreLoginDeps, grant: TokenGrant, scope: string): CredentialRecord {
  const now = Math.floor(clock.now() / 1000);
  return {
    sid: Buffer.from(random(8)).toString('hex'),
    gen: 1,
    journalKey: new Secret(Buffer.from(random(32)).toString('base64url')),
    accessToken: grant.accessToken,
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    expiresAt: now + (grant.expiresIn ?? assumedLifetimeSeconds),
    obtainedAt: now,
    scope: scopeWords(scope).join(' '),
    ...accountContextOf(grant.info),
    ...binding,
  };
}

/** With the item of the previous session goes the key of its journal, so its journal files are removed as well. */
async function replaceStoredRecord(
  { store, binding }: StoreLoginDeps,
  items: CredentialItems,
  record: CredentialRecord,
): Promise<CredentialRecord | undefined> {
  const before = await items.read('credential');
  requireAvailable(await writeCredentialRecord(store, items, record), store.profile);
  const old = before.kind === 'found' ? decodeRecord(before.value.reveal()) : undefined;
  if (old === undefined) return undefined;
  const newest = isRecordOfBinding(old, binding) ? newestRecord(store.journal, old) : undefined;
  store.journal.removeSession(old.sid);
  return newest;
}
