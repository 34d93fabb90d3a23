import type { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { SendError } from '../../platform/http-sender.ts';
import { runningTimeout } from '../../platform/waiting.ts';
import {
  decodeTokenResponse,
  isSuccessStatus,
  type OAuthClient,
  type RawTokenResponse,
  type ResponseObserver,
  redeemRefreshToken,
  type TokenGrant,
  type TokenResult,
} from '../oauth/index.ts';
import type { RefreshAnswer } from './core.ts';
import { type ErrorContext, isServerFailure, joinDetails, noResponseError, tokenError } from './errors.ts';
import { reached } from './failpoints.ts';
import { recordOfResponse, renewedRecord, type SessionRecord } from './record.ts';
import { type SessionRun, sendTokens } from './run.ts';

interface SendRefreshOptions {
  readonly refreshToken: Secret;
  readonly errorContext: ErrorContext;
  /** For the error of a refused refresh token. */
  readonly endedContext: ErrorContext;
  /** Aborts all attempts of this command to refresh. */
  readonly deadline: AbortSignal;
  /** The time before the request, in seconds since the epoch. */
  readonly sentAt: number;
  /** The session; `inDoubt`: an earlier command sent a refresh request whose result is not known. */
  readonly found: { readonly record: SessionRecord; readonly inDoubt: boolean };
  /** The record to store after the server has refused the refresh token. */
  readonly ended: SessionRecord;
  /** Called with the record of a successful response as soon as its last byte was read. */
  readonly keep: (next: SessionRecord) => Promise<void>;
}

type SentRefresh =
  | Exclude<RefreshAnswer<SessionRecord>, { readonly kind: 'granted' }>
  | {
      readonly kind: 'granted';
      readonly next: SessionRecord;
      readonly grant?: TokenGrant;
      /** The error of a response that has a new refresh token, but is no valid grant. */
      readonly failure?: CliError;
    };

/** Sends the refresh token, and decodes the response. */
export async function sendRefresh(
  run: Pick<SessionRun, 'send' | 'host' | 'onFailpoint'>,
  client: OAuthClient,
  options: SendRefreshOptions,
): Promise<SentRefresh> {
  const { found, sentAt, ended, endedContext } = options;
  const sent = await sendUntilAnswered(run, client, options);
  if (sent.kind === 'failed') return sent;
  const { raw, earlierFailure } = sent;
  const errorContext: ErrorContext = { ...options.errorContext, earlierFailure };
  const result = decodeTokenResponse(raw);
  if (result.kind === 'granted') {
    const next = renewedRecord(found.record, result.grant, sentAt);
    return { kind: 'granted', next, grant: result.grant };
  }
  const partial = recordOfResponse(found.record, result, sentAt);
  if (partial !== undefined) {
    const grant = result.kind === 'malformed' ? result.partial?.unrenewable : undefined;
    if (grant !== undefined) return { kind: 'granted', next: partial, grant };
    const failure = tokenError(result, { ...errorContext, consequence: newTokenKept });
    return { kind: 'granted', next: partial, failure };
  }
  // A malformed response with a success status may contain a grant.
  const mayBeProcessed = found.inDoubt || isSuccessStatus(raw.status);
  if (isInvalidGrant(result)) {
    const error = tokenError(result, { ...endedContext, earlierFailure });
    return { kind: 'ended', ended, error, mayBeProcessed };
  }
  // The result of an earlier request is known only from a grant or from the error invalid_grant.
  const error = tokenError(result, errorContext);
  return { kind: 'failed', error, mayBeProcessed: mayBeProcessed || earlierFailure !== undefined };
}

/** Text for the detail of the error of a refresh. */
const newTokenKept = 'the new refresh token of the response was stored, and the next command sends it';

type AnsweredRequest =
  | {
      readonly kind: 'answered';
      readonly raw: RawTokenResponse;
      /** How an earlier attempt failed, if the server may have processed it. */
      readonly earlierFailure: string | undefined;
    }
  | { readonly kind: 'failed'; readonly error: CliError; readonly mayBeProcessed: boolean };

/**
 * Sends a refresh request at most three times; it is repeated if the server certainly did not process it (it was not sent, or
 * the response is a complete 429). When it is not known whether the server processed the request, the same refresh token is
 * sent once more: the session has no other refresh token, so the repetition cannot make the result worse. If an earlier command
 * left a refresh with an unknown result, only one request is sent.
 */
async function sendUntilAnswered(
  run: Pick<SessionRun, 'send' | 'host' | 'onFailpoint'>,
  client: OAuthClient,
  { refreshToken, errorContext, deadline, found, sentAt, keep }: SendRefreshOptions,
): Promise<AnsweredRequest> {
  let unsent = 0;
  let doubtful = found.inDoubt ? 1 : 0;
  let firstFailure: string | undefined;
  const earlierThan = (failure: string): string | undefined => (failure === firstFailure ? undefined : firstFailure);
  const failed = (error: CliError): AnsweredRequest => ({ kind: 'failed', error, mayBeProcessed: doubtful > 0 });
  for (;;) {
    let complete: RawTokenResponse | undefined;
    const onComplete = async (response: RawTokenResponse): Promise<void> => {
      const isFirst = complete === undefined;
      complete = response;
      if (!isFirst || !isSuccessStatus(response.status)) return;
      const answer = decodeTokenResponse({ ...response, contentType: '' });
      const next = recordOfResponse(found.record, answer, sentAt);
      if (next !== undefined) await keep(next);
    };
    try {
      const signal = AbortSignal.any([deadline, runningTimeout(30_000)]);
      const observer: ResponseObserver = {
        // Each name is an argument, so that the release build contains none.
        onStage: (stage) => {
          if (stage === 'sending') reached(run, 'K3-sending');
          else if (stage === 'answering') reached(run, 'K6-answering');
          else reached(run, 'K6-partial');
        },
        onBody: onComplete,
      };
      const raw = await redeemRefreshToken(await sendTokens(run), client, refreshToken, signal, observer);
      await onComplete(raw);
      const failure = `an earlier response to the same request had status ${raw.status}`;
      const earlierFailure = earlierThan(failure);
      const answered: AnsweredRequest = { kind: 'answered', raw, earlierFailure };
      if (raw.status !== 429 && !isServerFailure(raw.status)) return answered;
      const isOver = raw.status === 429 ? ++unsent > 2 : ++doubtful > 1;
      const result = decodeTokenResponse(raw);
      // The error code ends the session, whatever the status is, but only when the request was repeated.
      if (isOver && isInvalidGrant(result)) return answered;
      if (isOver && result.kind !== 'granted') return failed(tokenError(result, { ...errorContext, earlierFailure }));
      if (raw.status !== 429) firstFailure ??= failure;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // The tokens are complete, so an error at the end of the body or of its connection has no effect.
      if (complete !== undefined && isSuccessStatus(complete.status))
        return { kind: 'answered', raw: complete, earlierFailure: firstFailure };
      const failure = `an earlier response to the same request was lost: ${error.message}`;
      const isOver = error.sent ? ++doubtful > 1 : ++unsent > 2;
      // Another attempt would meet the same certificate, or the same proxy with the same credentials.
      if (isOver || error.isFinal)
        return failed(
          noResponseError(error, 'refresh', {
            detail: joinDetails(earlierThan(failure), doubtful > 0 ? outcomeUnknown : sessionKept),
          }),
        );
      if (error.sent) firstFailure ??= failure;
    }
    // After the deadline, the next attempt fails immediately with the timeout error.
    await run.host.clock.sleep(250 * (unsent + doubtful), deadline).catch(() => undefined);
  }
}

/** Whether the server rejected the refresh token, which is the only response that ends a session. */
function isInvalidGrant(result: TokenResult): boolean {
  return result.kind === 'refused' && result.error === 'invalid_grant';
}

/** Text for the detail of the error of a refresh. */
export const sessionKept = 'the session was kept';
const outcomeUnknown =
  'it is not known whether the server processed the request; the session was kept, and the next command checks it';
