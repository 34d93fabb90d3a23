import { describe, expect, it } from 'vitest';
import {
  ReplacedSessionError,
  type StoredSessionAccessTokenProvider,
} from '../../../src/auth/session/profile-access-token-provider.ts';
import { wrapSessionWithReauthentication } from '../../../src/auth/session/wrap-session-with-reauthentication.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';

/** A session that has ended until somebody logs in. */
function ended(code: 'needs_login' | 'unreachable' = 'needs_login') {
  const state = { isBack: false, asked: 0, accepted: 0 };
  const bearer = async (): Promise<Secret> => {
    if (!state.isBack) throw new CliError(code, 'it has ended');
    return new Secret('at-new');
  };
  const none = (): Promise<never> => Promise.reject(new CliError(code, 'it has ended'));
  const acceptNewSession = (): void => {
    state.accepted += 1;
  };
  const session: StoredSessionAccessTokenProvider = {
    bearer,
    renew: bearer,
    record: none,
    forceRefresh: none,
    acceptNewSession,
  };
  const reauthenticate = (answer: boolean) => async () => {
    state.asked += 1;
    state.isBack = answer;
    return answer;
  };
  return { state, session, reauthenticate };
}

describe('the way back', () => {
  it('is offered once to all who ask for a token, and they go on', async () => {
    const { session, reauthenticate, state } = ended();
    const offered = wrapSessionWithReauthentication(session, reauthenticate(true));
    const tokens = await Promise.all([offered.bearer(), offered.renew(new Secret('old')), offered.bearer()]);
    expect(tokens.map((token) => token.reveal())).toEqual(['at-new', 'at-new', 'at-new']);
    expect(state).toMatchObject({ asked: 1, accepted: 1 });
  });

  it('that is declined leaves the error, and is not offered again', async () => {
    const { session, reauthenticate, state } = ended();
    const offered = wrapSessionWithReauthentication(session, reauthenticate(false));
    await expect(offered.bearer()).rejects.toMatchObject({ code: 'needs_login' });
    await expect(offered.record()).rejects.toMatchObject({ code: 'needs_login' });
    expect(state).toMatchObject({ asked: 1, accepted: 0 });
  });

  it('that fails tells why', async () => {
    const { session } = ended();
    const offered = wrapSessionWithReauthentication(session, () =>
      Promise.reject(new CliError('login_required', 'not signed in')),
    );
    await expect(offered.forceRefresh()).rejects.toMatchObject({ code: 'login_required' });
  });

  it('is not offered when another login has replaced the session, which may be of another account', async () => {
    const { session, reauthenticate, state } = ended();
    const replaced = { ...session, renew: () => Promise.reject(new ReplacedSessionError('needs_login', 'replaced')) };
    const offered = wrapSessionWithReauthentication(replaced, reauthenticate(true));
    await expect(offered.renew(new Secret('old'))).rejects.toMatchObject({ code: 'needs_login' });
    expect(state.asked).toBe(0);
  });

  it('is not offered for anything else', async () => {
    const { session, reauthenticate, state } = ended('unreachable');
    await expect(wrapSessionWithReauthentication(session, reauthenticate(true)).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(state.asked).toBe(0);
  });
});
