import { CliError } from '../../base/errors.ts';
import { type AccountAndTeam, compareAccounts, describeAccount } from '../../base/identity.ts';
import type { Secret } from '../../base/secret.ts';
import type { CredentialRecord } from './credential-record.ts';
import type { SessionRefreshDeps } from './refresh-session.ts';
import type { TokenRefreshCause } from './renewed-credential-record.ts';
import {
  type FoundStoredSession,
  getTokenFreshness,
  loadStoredSession,
  needsLoginError,
  otherAccountGrantError,
  requireStoredSession,
} from './stored-session.ts';

/**
 * Supplies the access token for every API request; refreshes it when needed, and reads it again when another process has
 * refreshed it.
 */
export interface ProfileAccessTokenProvider {
  /** A valid access token; it is refreshed first if it has expired or expires soon. */
  bearer(): Promise<Secret>;
  /**
   * Called after the API refused the token `refused`: returns the current access token if it differs from `refused`;
   * otherwise refreshes the session.
   */
  renew(refused: Secret): Promise<Secret>;
  /** The session record whose token `bearer()` returned. */
  record(): Promise<CredentialRecord>;
  /** Refreshes the access token even if it is not about to expire. */
  forceRefresh(): Promise<CredentialRecord>;
}

/** The access token of a stored session. */
export interface StoredSessionAccessTokenProvider extends ProfileAccessTokenProvider {
  /** Called after the user of this command logged in again: the next record belongs to another session. */
  acceptNewSession(): void;
}

/** The session is valid, but perhaps of another account, so the user is not asked to log in again in the same command. */
export class ReplacedSessionError extends CliError {}

/**
 * The error when another login replaced the session of a running command, such as a batch, with a session of another account or
 * team.
 */
function replacedSessionError(
  deps: SessionRefreshDeps,
  owner: AccountAndTeam,
  record: CredentialRecord,
): ReplacedSessionError {
  const session = { ...owner, scope: record.scope };
  const detail = `the session belonged to ${describeAccount(owner)}; another login has replaced it with a session of ${describeAccount(record)}`;
  const { message, hint } = needsLoginError(deps.profile, detail, session, deps.flowOption(record.sid));
  return new ReplacedSessionError('needs_login', message, { detail, hint });
}

/** Opens the session of a profile in its credential store. */
export function createProfileAccessTokenProvider(deps: SessionRefreshDeps): StoredSessionAccessTokenProvider {
  let known: CredentialRecord | undefined;
  let flight: Promise<CredentialRecord> | undefined;
  /**
   * A record whose refresh has an unknown result although the resource API accepts its token: this process uses it until the
   * token is refused.
   */
  let trusted: CredentialRecord | undefined;

  /**
   * The account whose session this process uses. Another command may replace the stored session, but a running command must not
   * continue with another account.
   */
  let owner: AccountAndTeam = {};
  /** The session of which the command has received a token or a record. */
  let usedSid: string | undefined;
  const use = (record: CredentialRecord): CredentialRecord => {
    usedSid = record.sid;
    return record;
  };
  const adopt = (record: CredentialRecord): CredentialRecord => {
    const comparison = compareAccounts(owner, record);
    // After another login, only a known and equal account proves that the session is still of the same account.
    const isReplaced = usedSid !== undefined && usedSid !== record.sid;
    if (comparison === 'different' || (isReplaced && comparison === 'unknown'))
      throw replacedSessionError(deps, owner, record);
    owner = { accountUuid: owner.accountUuid ?? record.accountUuid, team: owner.team ?? record.team };
    known = record;
    return record;
  };

  /** All callers in this process wait for the same refresh. */
  const refresh = (cause: TokenRefreshCause): Promise<CredentialRecord> => {
    // Most commands do not refresh, and need not load how.
    flight ??= import('./refresh-session.ts')
      .then(({ refreshStoredSession }) => refreshStoredSession(deps, cause))
      .then(({ record, inDoubt }) => {
        adopt(record);
        trusted = inDoubt ? record : undefined;
        return record;
      })
      .finally(() => {
        flight = undefined;
      });
    return flight;
  };

  const read = async (): Promise<FoundStoredSession> =>
    requireStoredSession(await loadStoredSession(deps.store, deps.binding), deps.profile, deps.store.location);

  const usable = async (): Promise<CredentialRecord> => {
    if (flight !== undefined) return flight;
    if (known !== undefined && (known === trusted || getTokenFreshness(known, deps.clock.now()) === 'valid'))
      return known;
    const found = await read();
    known = adopt(found.record);
    // Another command was interrupted or is in progress, so its files are recovered under the lock.
    if (found.needsRecovery) return refresh({ kind: 'due' });
    if (known.otherGrant?.isRevoked === true) throw otherAccountGrantError(deps, known);
    const state = getTokenFreshness(known, deps.clock.now());
    if (state === 'valid') return known;
    if (known.refreshToken !== undefined) return refresh({ kind: 'due' });
    if (state === 'expired') {
      const refused = 'the server refused the access token of the session, which cannot be renewed';
      const detail = known.isGivenToken === true ? refused : 'the session has expired and has no refresh token';
      throw needsLoginError(deps.profile, detail, known, deps.flowOption(known.sid));
    }
    return known;
  };

  return {
    record: async () => use(await usable()),
    bearer: async () => use(await usable()).accessToken,
    renew: async (refused) => {
      if (known !== undefined && known.accessToken.reveal() !== refused.reveal()) return use(known).accessToken;
      known = adopt((await read()).record);
      if (known.accessToken.reveal() !== refused.reveal()) return use(known).accessToken;
      return use(await refresh({ kind: 'refused', token: refused })).accessToken;
    },
    acceptNewSession: () => {
      usedSid = undefined;
      known = undefined;
    },
    forceRefresh: async () => {
      const { record: before } = await read();
      return use(await refresh({ kind: 'forced', sid: before.sid, gen: before.gen }));
    },
  };
}
