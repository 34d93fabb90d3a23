import { CliError } from '../../base/errors.ts';
import {
  type ProfileAccessTokenProvider,
  ReplacedSessionError,
  type StoredSessionAccessTokenProvider,
} from './profile-access-token-provider.ts';

/**
 * Wraps a session so that, after it has ended, the user at the terminal can log in and the command continues. `reauthenticate`
 * asks the user and logs in; it resolves with false if the user declines. All callers in this process wait for the same
 * question and login.
 */
export function wrapSessionWithReauthentication(
  session: StoredSessionAccessTokenProvider,
  reauthenticate: () => Promise<boolean>,
): ProfileAccessTokenProvider {
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
