import type { CliError } from '../base/errors.ts';
import { describeAccount } from '../base/identity.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { ProfileReference } from '../config/settings.ts';
import { splitOAuthScope } from '../oauth/scope.ts';
import type { RegisteredOAuthClient } from '../oauth/token-endpoint.ts';
import type { TokenAccountInfo, TokenGrant } from '../oauth/token-grant.ts';
import type { CredentialRecord } from './credential-record.ts';
import { type CredentialStore, isCredentialStoreUnavailable, type OpenCredentialStore } from './credential-store.ts';
import { type RevokeTokenGrantDeps, revokeTokenGrant } from './revoke-grant.ts';
import { needsLoginError } from './stored-session.ts';
import { writeCredentialUnlessSuperseded } from './write-credential-unless-superseded.ts';

export interface AccountUpdateAfterRefreshDeps extends Pick<RevokeTokenGrantDeps, 'createSender'> {
  readonly profile: ProfileReference;
  readonly store: CredentialStore;
  readonly client: () => Promise<RegisteredOAuthClient>;
  /** The option of `auth login` that selects the flow of this session. */
  readonly flowOption: (sid: string) => readonly string[];
  readonly warn: (text: string) => Promise<void>;
  /** Stores the account names for display; `info` is undefined if the response contained no account. */
  readonly updateAccount: (record: CredentialRecord, info: TokenAccountInfo | undefined) => void;
}

/**
 * Handles a refresh that returned a grant of another account or team: that grant is revoked and the session stays ended. The
 * caller must have the lock of the profile. @returns the error, which names both accounts
 */
export async function endGrantOfOtherAccount(
  deps: AccountUpdateAfterRefreshDeps,
  items: OpenCredentialStore,
  record: CredentialRecord,
): Promise<CliError> {
  const { otherGrant } = record;
  if (otherGrant !== undefined && !otherGrant.isRevoked) {
    const isRevoked = await revokeTokenGrant({ client: await deps.client(), createSender: deps.createSender }, record);
    const { refreshToken: _other, ...rest } = record;
    const ended = isRevoked ? { ...rest, otherGrant: { ...otherGrant, isRevoked } } : record;
    const written = await writeCredentialUnlessSuperseded(deps.store, items, ended, record);
    if (!isCredentialStoreUnavailable(written) && written.kind === 'done') deps.store.journal.removeCommitted(ended);
    return otherAccountGrantError(deps, ended);
  }
  return otherAccountGrantError(deps, record);
}

/** The error `needs_login` of a session that ended because a refresh was answered with a grant of another account or team. */
export function otherAccountGrantError(
  { profile, flowOption }: Pick<AccountUpdateAfterRefreshDeps, 'profile' | 'flowOption'>,
  record: CredentialRecord,
): CliError {
  const { otherGrant } = record;
  const revoked = otherGrant?.isRevoked === true ? 'was revoked' : 'is not used, and could not be revoked yet';
  const detail = `the session belongs to ${describeAccount(record)}; the server answered a refresh for ${sanitizeLine(describeAccount(otherGrant ?? {}))}; that grant ${revoked}`;
  return needsLoginError(profile, detail, record, flowOption(record.sid));
}

/** Called after a refresh: stores the names of the account, and warns about a narrower scope. */
export async function updateAccountAfterTokenRefresh(
  deps: AccountUpdateAfterRefreshDeps,
  before: CredentialRecord,
  record: CredentialRecord,
  grant: TokenGrant,
): Promise<void> {
  const [earlier, granted] = [splitOAuthScope(before.scope), splitOAuthScope(record.scope)];
  if (granted.length < earlier.length && granted.every((word) => earlier.includes(word)))
    await deps.warn(
      `the server reduced the scope of the session from "${earlier.join(' ')}" to "${granted.join(' ')}"`,
    );
  deps.updateAccount(record, grant.info);
}
