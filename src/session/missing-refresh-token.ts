import type { CliError } from '../base/errors.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import type { CredentialRecord } from './credential-record.ts';
import type { OpenCredentialStore } from './credential-store.ts';
import { buildRecordAfterRefreshRejection, type TokenRefreshCause } from './renewed-credential-record.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import type { SessionRefreshDeps } from './session-refresh-deps.ts';
import { storeEndedSession } from './store-ended-session.ts';
import { needsLoginError } from './stored-session.ts';

/** Without a refresh token, the session is stored as ended when the API refuses the access token. */
export async function endRefusedSessionWithoutRefreshToken(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  record: CredentialRecord,
  cause: TokenRefreshCause,
  deadline: AbortSignal,
): Promise<CliError> {
  const isRefused = cause.kind === 'refused';
  const lack = record.isGivenToken === true ? 'the session cannot be renewed' : 'the session has no refresh token';
  const detail = isRefused ? `the server refused the access token, and ${lack}` : lack;
  if (isRefused && (await probeAccessToken(deps, record, deadline)) === 'refused')
    await storeEndedSession(deps, items, buildRecordAfterRefreshRejection(record, cause, deps.clock.now()), record);
  return needsLoginError(deps.profile, detail, record, deps.flowOption(record.sid));
}

export function probeAccessToken(
  deps: SessionRefreshDeps,
  record: CredentialRecord,
  deadline: AbortSignal,
): Promise<TokenAcceptance> {
  return deps.probe(record.accessToken, timeoutSignal(10_000, deadline));
}
