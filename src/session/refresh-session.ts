import { CliError } from '../base/errors.ts';
import {
  buildTokenRefreshRequest,
  processTokenResponse,
  type UndecodedTokenResponse,
} from '../oauth/token-endpoint.ts';
import { deferSignals } from '../platform/defer-signals.ts';
import { fileErrorCode } from '../platform/files.ts';
import { createRunningTimeTimeoutSignal } from '../platform/running-time-signal.ts';
import { InsecureFileError } from '../platform/secret-file.ts';
import { commitTokenRefresh, type TokenRefreshWithResponse } from './commit-token-refresh.ts';
import { type CredentialRecord, computeTokenSecondsLeft } from './credential-record.ts';
import type { OpenCredentialStore } from './credential-store.ts';
import { reachFailpoint } from './failpoints.ts';
import { endRefusedSessionWithoutRefreshToken, probeAccessToken } from './missing-refresh-token.ts';
import { recoverStoredSession } from './recover-session.ts';
import type { PreparedRefreshJournalFile } from './refresh-journal.ts';
import {
  buildCredentialRecordOfResponse,
  buildRecordAfterRefreshRejection,
  buildRenewedCredentialRecord,
  isTokenRefreshDue,
  type TokenRefreshCause,
} from './renewed-credential-record.ts';
import { isInvalidGrant, isSuccessStatus, sendTokenRefresh, sessionKeptMessage } from './send-token-refresh.ts';
import type { SessionRefreshDeps } from './session-refresh-deps.ts';
import {
  buildSessionEndedErrorContext,
  storeEndedSession,
  waitForNewerCredentialRecord,
} from './store-ended-session.ts';
import { sessionNotRenewableError } from './stored-session.ts';
import { formatLoginCommand } from './suggested-commands.ts';
import { tokenEndpointError } from './token-endpoint-error.ts';
import type { TokenErrorContext } from './token-error-hints.ts';
import { endGrantOfOtherAccount, updateAccountAfterTokenRefresh } from './update-account-after-token-refresh.ts';

/** The session after this or another process refreshed it, or unchanged when no refresh was needed. */
export interface SessionRefreshResult {
  readonly record: CredentialRecord;
  /** Whether an earlier refresh still has an unknown result, although the access token has not been refused. */
  readonly inDoubt: boolean;
}

/** Time limit of all refresh requests of a command, in milliseconds; other processes wait longer than this for the lock. */
const totalTimeoutMs = 35_000;

/**
 * Refreshes the session at most once. A refresh invalidates both old tokens at once (docs/service.md S5.8), so two simultaneous refreshes
 * would end the session: the store is read again under the lock of the profile, in case another process has refreshed it. The
 * steps of a refresh and their order are explained in docs/sessions.md.
 */
export async function refreshStoredSession(
  deps: SessionRefreshDeps,
  cause: TokenRefreshCause,
): Promise<SessionRefreshResult> {
  deps.requireSafe();
  reachFailpoint(deps, 'K1-waiting');
  const lock = await deps.lock();
  try {
    reachFailpoint(deps, 'K1-locked');
    return await deps.store.withItems((items) => refreshIfDue(deps, items, cause), lock);
  } finally {
    lock.release();
  }
}

async function refreshIfDue(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  cause: TokenRefreshCause,
): Promise<SessionRefreshResult> {
  const found = await recoverStoredSession(deps, items);
  const { record } = found;
  if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(deps, items, record);
  const deadline = createRunningTimeTimeoutSignal(totalTimeoutMs);
  let refusal = cause;
  if (found.inDoubt && cause.kind === 'due') {
    const acceptance = await probeAccessToken(deps, record, deadline);
    const isAlive = computeTokenSecondsLeft(record, deps.clock.now()) > 0;
    if (acceptance === 'accepted' || (acceptance === 'unknown' && isAlive)) return found;
    if (acceptance === 'refused') refusal = { kind: 'refused', token: record.accessToken };
  } else if (!isTokenRefreshDue(record, cause, deps.clock.now())) return found;
  const { refreshToken } = record;
  if (refreshToken === undefined) {
    if (cause.kind === 'forced' && computeTokenSecondsLeft(record, deps.clock.now()) > 0)
      throw sessionNotRenewableError(deps.profile, record, deps.flowOption(record.sid), deps.clock.now());
    if (cause.kind === 'due' && computeTokenSecondsLeft(record, deps.clock.now()) > 0) return found;
    throw await endRefusedSessionWithoutRefreshToken(deps, items, record, cause, deadline);
  }
  const client = await deps.client();
  const { authOrigin: origin, tokenParams } = client;
  const errorContext: TokenErrorContext = {
    operation: 'refresh',
    origin,
    profile: deps.profile,
    tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: formatLoginCommand(deps.profile, record.scope, deps.flowOption(record.sid)),
    consequence: sessionKeptMessage,
  };
  const request = buildTokenRefreshRequest(client, refreshToken);
  const sentAt = Math.floor(deps.clock.now() / 1000);
  const reservation = reserveSpace(deps, record, sentAt);
  reachFailpoint(deps, 'K2-reserved');
  return deferSignals(deps.signals, async () => {
    let isKept = false;
    const persistResponse = (body: string): void => {
      reachFailpoint(deps, 'K7-read');
      isKept = reservation.persistResponse(body);
    };
    const { inDoubt } = found;
    const sent = await sendTokenRefresh(deps, request, { errorContext, deadline, inDoubt, persistResponse });
    if (sent.kind === 'failed') {
      if (sent.inDoubt) reservation.close();
      else reservation.discard();
      throw sent.error;
    }
    const context: TokenErrorContext = { ...errorContext, earlierFailure: sent.earlierFailure };
    const ongoing = { deps, items, cause: refusal, errorContext: context, found, reservation, sentAt, isKept };
    return processRefreshResponse(ongoing, sent.raw);
  });
}

/** Ensures before the request is sent that the response can be stored. */
function reserveSpace(
  deps: SessionRefreshDeps,
  record: CredentialRecord,
  now: number,
  attempt = 1,
): PreparedRefreshJournalFile {
  try {
    return deps.store.journal.reserve(record, { now, random: deps.random, onFailpoint: deps.onFailpoint });
  } catch (error) {
    // Another process has removed this journal file as obsolete, on a file system that does not share locks.
    if (fileErrorCode(error) === 'ENOENT' && attempt < 10) return reserveSpace(deps, record, now, attempt + 1);
    throw new CliError(
      'keychain_unavailable',
      'could not refresh the session: no disk space could be reserved for the response',
      {
        detail: `${error instanceof Error ? error.message : String(error)}; nothing was sent, and the session was kept`,
        hint:
          error instanceof InsecureFileError
            ? error.hint
            : 'make the state folder writable for your user and free disk space, then run the command again',
        cause: error,
      },
    );
  }
}

interface RefreshInProgress extends TokenRefreshWithResponse {
  readonly cause: TokenRefreshCause;
  readonly errorContext: TokenErrorContext;
  readonly sentAt: number;
}

/** Processes a complete response to a refresh, until the new record is committed or the session has ended. */
async function processRefreshResponse(
  ongoing: RefreshInProgress,
  raw: UndecodedTokenResponse,
): Promise<SessionRefreshResult> {
  const { deps, items, cause, errorContext, found, reservation } = ongoing;
  const result = processTokenResponse(raw);
  if (result.kind === 'granted') {
    const record = await commitTokenRefresh(
      ongoing,
      buildRenewedCredentialRecord(found.record, result.grant, ongoing.sentAt),
    );
    if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(deps, items, record);
    await updateAccountAfterTokenRefresh(deps, found.record, record, result.grant);
    return { record, inDoubt: false };
  }
  const partial = buildCredentialRecordOfResponse(found.record, result, ongoing.sentAt);
  if (partial !== undefined) {
    const record = await commitTokenRefresh(ongoing, partial);
    if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(deps, items, record);
    throw tokenEndpointError(result, { ...errorContext, consequence: newTokenKept });
  }
  const isEnded = isInvalidGrant(result);
  const newer = isEnded ? await waitForNewerCredentialRecord(deps, items, found.record, reservation) : undefined;
  // A malformed response with a success status may contain a grant. The result of an earlier refresh is known only from a
  // grant or from the error invalid_grant.
  const hasLostResponse = !isEnded && errorContext.earlierFailure !== undefined;
  const mayBeProcessed = found.inDoubt || isSuccessStatus(raw) || hasLostResponse;
  if (newer === undefined && mayBeProcessed) reservation.close();
  else reservation.discard();
  if (newer !== undefined) return { record: newer, inDoubt: false };
  if (!isEnded) throw tokenEndpointError(result, errorContext);
  const ended = buildRecordAfterRefreshRejection(found.record, cause, deps.clock.now());
  await storeEndedSession(deps, items, ended, found.record);
  throw tokenEndpointError(result, buildSessionEndedErrorContext(deps, ended, errorContext));
}

/** Text for the detail of the error of a refresh. */
const newTokenKept = 'the new refresh token of the response was stored, and the next command sends it';
