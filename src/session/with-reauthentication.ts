import { CliError } from '../errors.ts';
import type { ProfileSession } from './profile-session.ts';

/**
 * A session that, after it has ended, offers a login to the person at the terminal and then continues. `reauthenticate` asks
 * and logs in; it returns false if the person declines. All callers in this process share one question.
 */
export function withReauthentication(session: ProfileSession, reauthenticate: () => Promise<boolean>): ProfileSession {
  let login: Promise<boolean> | undefined;
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CliError && error.code === 'needs_login')) throw error;
      login ??= reauthenticate();
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
