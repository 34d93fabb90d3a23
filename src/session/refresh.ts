import { tlsCure } from '../api/client.ts';
import { CliError } from '../errors.ts';
import type { Grant } from '../oauth/grant.ts';
import {
  type Client,
  processTokenAnswer,
  type RawAnswer,
  refreshRequest,
  sendTokenRequest,
  type TokenResult,
} from '../oauth/token-endpoint.ts';
import type { Clock, Signals } from '../platform/host.ts';
import type { HeldLock } from '../platform/lock.ts';
import { failureCode, type Send, SendError } from '../platform/send.ts';
import type { Secret } from '../secret.ts';
import { freshness, needsLogin, readStored, requireFits, requireRecord, writeRecord } from './current.ts';
import { deferSignals } from './defer-signals.ts';
import type { Binding, CredentialRecord } from './record.ts';
import { type CredentialStore, isUnavailable, keychainError } from './store.ts';

export interface RefreshDeps {
  readonly profile: string;
  readonly binding: Binding;
  /** Carries the client secret only where the server wants it at refresh. */
  readonly client: () => Promise<Client>;
  readonly store: CredentialStore;
  /** A connection of its own for every request. */
  readonly send: () => Promise<Send>;
  readonly lock: () => Promise<HeldLock>;
  readonly clock: Clock;
  readonly signals: Signals;
  /** Throws when the environment would print or expose the request. */
  readonly requireSafe: () => void;
  readonly warn: (text: string) => Promise<void>;
}

/** Why a refresh may be due: the clock, a refusal of the token that was sent, or a person's wish. */
export type RefreshCause =
  | { readonly kind: 'due' }
  | { readonly kind: 'refused'; readonly token: Secret }
  | { readonly kind: 'forced'; readonly sid: string; readonly gen: number };

/** Milliseconds all attempts of one command may take; a waiter on the lock waits longer. */
const budget = 35_000;

/**
 * Renews the session at most once (spec.md §3: a refresh kills both old tokens at once, so two at a time lose the session).
 * Under the profile's lock the store is read again; whoever came first did the work for all.
 */
export async function refreshSession(deps: RefreshDeps, cause: RefreshCause): Promise<CredentialRecord> {
  deps.requireSafe();
  const lock = await deps.lock();
  try {
    return await deps.store.visit(async (items) => {
      const record = requireRecord(await readStored(items, deps.binding), deps.profile, deps.store.place);
      if (!isDue(record, cause, deps.clock.now())) return record;
      const refreshToken = record.refreshToken;
      if (refreshToken === undefined) throw needsLogin(deps.profile, 'it has no refresh token');
      const client = await deps.client();
      return await deferSignals(deps.signals, async () => {
        const result = await attempts(deps, () => refreshRequest(client, refreshToken));
        if (result.kind === 'granted') return commit(renewed(record, result.grant, deps.clock.now()));
        if (result.kind === 'refused' && result.error === 'invalid_grant') {
          const ended = withoutRefresh(record, cause, deps.clock.now());
          await writeRecord(items, ended);
          throw needsLogin(deps.profile, 'the authorization server no longer accepts its refresh token');
        }
        throw refreshFailed(deps.binding.authOrigin, result);
      });

      async function commit(next: CredentialRecord): Promise<CredentialRecord> {
        requireFits(next);
        let written = await writeRecord(items, next);
        // What is stored decides, and the old record is worthless now: one more try can only help.
        if (isUnavailable(written)) written = await writeRecord(items, next);
        if (isUnavailable(written)) {
          await deps.warn(
            `the renewed session could not be stored and ends with this command: ${keychainError(written).message}`,
          );
        }
        return next;
      }
    });
  } finally {
    lock.release();
  }
}

function isDue(record: CredentialRecord, cause: RefreshCause, now: number): boolean {
  if (cause.kind === 'refused') return record.accessToken.reveal() === cause.token.reveal();
  if (cause.kind === 'forced') return record.sid === cause.sid && record.gen === cause.gen;
  return freshness(record, now) !== 'valid';
}

function renewed(old: CredentialRecord, grant: Grant, nowMs: number): CredentialRecord {
  const now = Math.floor(nowMs / 1000);
  const refreshToken = grant.refreshToken ?? old.refreshToken;
  const accountUuid = grant.info?.uuid ?? old.accountUuid;
  return {
    ...old,
    gen: old.gen + 1,
    accessToken: grant.accessToken,
    // RFC 6749 §6: a server that issues no new refresh token lets the old one live.
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(accountUuid === undefined ? {} : { accountUuid }),
    expiresAt: now + grant.expiresIn,
    obtainedAt: now,
    scope: grant.scope ?? old.scope,
  };
}

/** A terminal answer: the refresh token is gone; the access token serves to its end unless it is what was refused. */
function withoutRefresh(record: CredentialRecord, cause: RefreshCause, nowMs: number): CredentialRecord {
  const { refreshToken: _dead, ...rest } = record;
  return cause.kind === 'refused' ? { ...rest, expiresAt: Math.min(rest.expiresAt, Math.floor(nowMs / 1000)) } : rest;
}

/**
 * Up to three tries while the request was certainly not processed (never sent, or a complete 429); after a doubtful end the
 * same refresh token once more, which can lose nothing, since it is all we own.
 */
async function attempts(deps: RefreshDeps, request: () => ReturnType<typeof refreshRequest>): Promise<TokenResult> {
  const deadline = AbortSignal.timeout(budget);
  let unsent = 0;
  let doubts = 0;
  for (;;) {
    let raw: RawAnswer | undefined;
    try {
      raw = await sendTokenRequest(
        await deps.send(),
        request(),
        AbortSignal.any([deadline, AbortSignal.timeout(30_000)]),
      );
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // A certificate does not become valid by asking again.
      if (error.kind === 'tls' || (error.sent ? ++doubts > 1 : ++unsent > 2)) throw unreachable(error);
    }
    if (raw !== undefined && raw.status !== 429 && raw.status < 500) return processTokenAnswer(raw);
    if (raw !== undefined && (raw.status === 429 ? ++unsent > 2 : ++doubts > 1)) return processTokenAnswer(raw);
    // When the time is over the next try ends at once, with the words for it.
    await deps.clock.sleep(250 * (unsent + doubts), deadline).catch(() => undefined);
  }
}

function unreachable(error: SendError): CliError {
  const code = failureCode(error);
  return new CliError(code, `could not refresh the session: ${error.message}`, {
    detail: 'the session was kept',
    hint: code === 'tls' ? tlsCure : 'run the command again when the server can be reached',
  });
}

function refreshFailed(origin: string, result: Exclude<TokenResult, { kind: 'granted' }>): CliError {
  if (result.kind === 'malformed' && result.status >= 500) {
    return new CliError('api_error', `could not refresh the session: the server answered ${result.status}`, {
      detail: `${origin}; the session was kept`,
      hint: 'run the command again later',
      status: result.status,
    });
  }
  if (result.kind === 'malformed') {
    return new CliError(
      'api_error',
      'could not refresh the session: the answer of the authorization server is not understood',
      {
        detail: `${origin}: ${result.reason}; the session was kept`,
        hint: 'check auth_url with `cloudctl config list`, then run the command again',
        status: result.status,
      },
    );
  }
  const code = result.error === 'invalid_client' ? 'invalid_client' : 'api_error';
  return new CliError(code, `could not refresh the session: the authorization server answered ${result.error}`, {
    detail: `${(result.description ?? `status ${result.status}`).replace(/\.$/, '')}; the session was kept`,
    hint: code === 'invalid_client' ? '`cloudctl auth setup` sets the client id and secret' : 'run the command again',
    status: result.status,
  });
}
