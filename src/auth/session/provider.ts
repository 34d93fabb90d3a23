import { CliError } from '../../base/errors.ts';
import { compareAccounts, describeAccount, type TeamAccount } from '../../base/identity.ts';
import type { Secret } from '../../base/secret.ts';
import { freshnessOf, type RefreshCause, type SessionRecord } from './record.ts';
import { flowOfSession, type SessionRun } from './run.ts';
import {
  type FoundSession,
  loadSession,
  needsLoginError,
  otherAccountError,
  requireSession,
  whyNotRenewable,
} from './stored.ts';

/**
 * Supplies the access token for every API request; refreshes it when needed, and reads it again when another process has
 * refreshed it.
 */
export interface TokenProvider {
  /** A valid access token; it is refreshed first if it has expired or expires soon. */
  bearer(): Promise<Secret>;
  /**
   * Called after the API refused the token `refused`: returns the current access token if it differs from `refused`;
   * otherwise refreshes the session. Returns `refused` itself if this process has renewed the token just now.
   */
  renew(refused: Secret): Promise<Secret>;
  /** The session record whose token `bearer()` returned. */
  record(): Promise<SessionRecord>;
  /** Refreshes the access token even if it is not about to expire. */
  forceRefresh(): Promise<SessionRecord>;
}

/** The access token of a stored session. */
export interface StoredProvider extends TokenProvider {
  /** Called after the user of this command logged in again: the next record belongs to another session. */
  acceptNewSession(): void;
}

/** The session is valid, but perhaps of another account, so the user is not asked to log in again in the same command. */
export class ReplacedSessionError extends CliError {}

/**
 * The error when another login replaced the session of a running command, such as a batch, with a session of another account or
 * team.
 */
function replacedSessionError(run: SessionRun, owner: TeamAccount, record: SessionRecord): ReplacedSessionError {
  const session = { ...owner, scope: record.scope };
  const detail = `the session belonged to ${describeAccount(owner)}; another login has replaced it with a session of ${describeAccount(record)}`;
  const { message, hint } = needsLoginError(run.settings.profile, detail, session, flowOfSession(run, record.sid));
  return new ReplacedSessionError('needs_login', message, { detail, hint });
}

const justRenewedMs = 30_000;

/** Opens the session of a profile in its credential store. */
export function storedProvider(run: SessionRun): StoredProvider {
  let known: SessionRecord | undefined;
  let flight: Promise<SessionRecord> | undefined;
  /**
   * A record whose refresh has an unknown result although the resource API accepts its token: this process uses it until the
   * token is refused.
   */
  let trusted: SessionRecord | undefined;
  /** The last refresh of this process: an API that refuses its token at once would refuse that of another refresh, too. */
  let latest: { readonly token: Secret; readonly at: number } | undefined;

  /**
   * The account whose session this process uses. Another command may replace the stored session, but a running command must not
   * continue with another account.
   */
  let owner: TeamAccount = {};
  /** The session of which the command has received a token or a record. */
  let usedSid: string | undefined;
  const use = (record: SessionRecord): SessionRecord => {
    usedSid = record.sid;
    return record;
  };
  const adopt = (record: SessionRecord): SessionRecord => {
    const comparison = compareAccounts(owner, record);
    // After another login, only a known and equal account proves that the session is still of the same account.
    const isReplaced = usedSid !== undefined && usedSid !== record.sid;
    if (comparison === 'different' || (isReplaced && comparison === 'unknown'))
      throw replacedSessionError(run, owner, record);
    owner = { accountUuid: owner.accountUuid ?? record.accountUuid, team: owner.team ?? record.team };
    known = record;
    return record;
  };

  /** All callers in this process wait for the same refresh. */
  const refresh = (cause: RefreshCause): Promise<SessionRecord> => {
    // Most commands do not refresh, and need not load how.
    flight ??= import('./refresh.ts')
      .then(({ refreshSession }) => refreshSession(run, cause))
      .then(({ record, inDoubt }) => {
        adopt(record);
        trusted = inDoubt ? record : undefined;
        latest = { token: record.accessToken, at: run.host.clock.now() };
        return record;
      })
      .finally(() => {
        flight = undefined;
      });
    return flight;
  };

  const read = async (): Promise<FoundSession> =>
    requireSession(await loadSession(run.store, run.binding), run.settings.profile, run.store.location);

  const usable = async (): Promise<SessionRecord> => {
    if (flight !== undefined) return flight;
    if (known !== undefined && (known === trusted || freshnessOf(known, run.host.clock.now()) === 'valid'))
      return known;
    const found = await read();
    known = adopt(found.record);
    // Another command was interrupted or is in progress, so its files are recovered under the lock.
    if (found.needsRecovery) return refresh({ kind: 'due' });
    if (known.otherGrant?.isRevoked === true) throw otherAccountError(run, known);
    const state = freshnessOf(known, run.host.clock.now());
    if (state === 'valid') return known;
    if (known.refreshToken !== undefined) return refresh({ kind: 'due' });
    if (state === 'expired') {
      const refused = 'the server refused the access token of the session, which cannot be renewed';
      const detail =
        known.isGivenToken === true ? refused : `the access token has expired, and ${whyNotRenewable(known)}`;
      throw needsLoginError(run.settings.profile, detail, known, flowOfSession(run, known.sid));
    }
    return known;
  };

  return {
    record: async () => use(await usable()),
    bearer: async () => use(await usable()).accessToken,
    renew: async (refused) => {
      if (known !== undefined && !known.accessToken.equals(refused)) return use(known).accessToken;
      known = adopt((await read()).record);
      if (!known.accessToken.equals(refused)) return use(known).accessToken;
      const isJustRenewed = latest?.token.equals(refused) === true && run.host.clock.now() - latest.at < justRenewedMs;
      return isJustRenewed ? refused : use(await refresh({ kind: 'refused', token: refused })).accessToken;
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

/**
 * Wraps a session so that, after it has ended, the user at the terminal can log in and the command continues. `reauthenticate`
 * asks the user and logs in; it resolves with false if the user declines. All callers in this process wait for the same
 * question and login.
 */
export function withReauthentication(session: StoredProvider, reauthenticate: () => Promise<boolean>): TokenProvider {
  let login: Promise<boolean> | undefined;
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CliError && error.code === 'needs_login') || error instanceof ReplacedSessionError)
        throw error;
      login ??= reauthenticate().then((isLoggedIn) => {
        if (isLoggedIn) session.acceptNewSession();
        return isLoggedIn;
      });
      if (!(await login)) throw error;
      return work();
    }
  };
  return {
    record: () => again(session.record),
    bearer: () => again(session.bearer),
    renew: (refused) => again(() => session.renew(refused)),
    forceRefresh: () => again(session.forceRefresh),
  };
}

/** The session of `CLOUDCTL_ACCESS_TOKEN`: its token cannot be refreshed and is not stored. */
export function fixedProvider(accessToken: Secret): TokenProvider {
  const refuse = async (): Promise<never> => {
    throw new CliError('token_refused', 'the access token of CLOUDCTL_ACCESS_TOKEN was refused', {
      hint: 'use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  const noRecord = async (): Promise<never> => {
    throw new CliError('usage', 'CLOUDCTL_ACCESS_TOKEN is set, so no stored session is in use', {
      hint: 'run `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  return { bearer: async () => accessToken, renew: refuse, record: noRecord, forceRefresh: noRecord };
}
