import type { Secret } from '../secret.ts';
import { type Found, freshness, needsLogin, readOnce, requireFound } from './current.ts';
import type { CredentialRecord } from './record.ts';
import { type RefreshDeps, refreshSession } from './refresh.ts';
import type { RefreshCause } from './renew.ts';

/** The bearer of every API call: renews itself when needed, and when a sibling process renewed it. */
export interface Session {
  /** A usable access token: refreshed first when it has expired or soon will. */
  bearer(): Promise<Secret>;
  /** The API refused this token: gives the current one if it is another, else a refreshed one. */
  renew(refused: Secret): Promise<Secret>;
  /** The record behind `bearer()`. */
  record(): Promise<CredentialRecord>;
  /** A refresh now, whether it is due or not. */
  force(): Promise<CredentialRecord>;
}

/** The session of a profile in its credential store. */
export function createSession(deps: RefreshDeps): Session {
  let known: CredentialRecord | undefined;
  let flight: Promise<CredentialRecord> | undefined;
  /** In doubt, but taken by the resource API: it serves this process until it is refused. */
  let trusted: CredentialRecord | undefined;

  /** Single flight: callers of one process share one refresh. */
  const refresh = (cause: RefreshCause): Promise<CredentialRecord> => {
    flight ??= refreshSession(deps, cause)
      .then(({ record, inDoubt }) => {
        known = record;
        trusted = inDoubt ? record : undefined;
        return record;
      })
      .finally(() => {
        flight = undefined;
      });
    return flight;
  };

  const read = async (): Promise<Found> =>
    requireFound(await readOnce(deps.store, deps.binding), deps.profile, deps.store.place);

  const usable = async (): Promise<CredentialRecord> => {
    if (flight !== undefined) return flight;
    if (known !== undefined && (known === trusted || freshness(known, deps.clock.now()) === 'valid')) return known;
    const found = await read();
    known = found.record;
    // Another command was interrupted, or is at work: what it left is put right under the lock.
    if (found.unsettled) return refresh({ kind: 'due' });
    const state = freshness(known, deps.clock.now());
    if (state === 'valid') return known;
    if (known.refreshToken !== undefined) return refresh({ kind: 'due' });
    if (state === 'expired')
      throw needsLogin(deps.profile, 'it has expired and has no refresh token', known, deps.flowAgain(known.sid));
    return known;
  };

  return {
    record: usable,
    bearer: async () => (await usable()).accessToken,
    renew: async (refused) => {
      if (known !== undefined && known.accessToken.reveal() !== refused.reveal()) return known.accessToken;
      known = (await read()).record;
      if (known.accessToken.reveal() !== refused.reveal()) return known.accessToken;
      return (await refresh({ kind: 'refused', token: refused })).accessToken;
    },
    force: async () => {
      const { record: before } = await read();
      return refresh({ kind: 'forced', sid: before.sid, gen: before.gen });
    },
  };
}
