import { CliError } from '../errors.ts';
import type { ProfileSession } from './profile-session.ts';

/**
 * A session that, once it has ended, offers the person at the terminal to log in again, and then goes on. `comeBack` asks,
 * and logs in; false: the person would rather not. All callers of one process share one question.
 */
export function withReauthentication(session: ProfileSession, comeBack: () => Promise<boolean>): ProfileSession {
  let asked: Promise<boolean> | undefined;
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CliError && error.code === 'needs_login')) throw error;
      asked ??= comeBack();
      if (!(await asked)) throw error;
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
