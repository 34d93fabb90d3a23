import type { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { type HttpResponse, HttpSendError, type HttpSender } from '../../platform/http-sender.ts';
import { createRunningTimeTimeoutSignal } from '../../platform/running-time-signal.ts';
import {
  decodeTokenResponse,
  type RawTokenResponse,
  readContentType,
  sendTokenRequest,
  type TokenRequest,
  type TokenResult,
} from '../oauth/index.ts';
import { type FailpointObserver, reachFailpoint } from './failpoints.ts';
import {
  isServerFailureStatus,
  joinDetails,
  tokenEndpointError,
  tokenRequestWithoutResponseError,
} from './token-endpoint-error.ts';
import type { TokenErrorContext } from './token-error-hints.ts';

export interface SendTokenRefreshDeps extends FailpointObserver {
  /** Each HttpSender uses a new connection. */
  readonly createSender: () => Promise<HttpSender>;
  readonly clock: Clock;
}

export interface SendTokenRefreshOptions {
  readonly errorContext: TokenErrorContext;
  /** Aborts all attempts of this command to refresh. */
  readonly deadline: AbortSignal;
  /** Whether an earlier command sent a refresh request whose result is not known. */
  readonly inDoubt: boolean;
  /** Called with the body of a successful response as soon as its last byte was read. */
  readonly persistResponse: (body: string) => void;
}

export type SendTokenRefreshResult =
  | {
      readonly kind: 'answered';
      readonly raw: RawTokenResponse;
      /** How an earlier attempt failed, if the server may have processed it. */
      readonly earlierFailure: string | undefined;
    }
  /** `inDoubt` is true if the server may have processed one of the requests. */
  | { readonly kind: 'failed'; readonly error: CliError; readonly inDoubt: boolean };

/**
 * Sends a refresh request at most three times; it is repeated if the server certainly did not process it (it was not sent, or
 * the response is a complete 429). When it is not known whether the server processed the request, the same refresh token is
 * sent once more: the session has no other refresh token, so the repetition cannot make the result worse. If an earlier command
 * left a refresh with an unknown result, only one request is sent.
 */
export async function sendTokenRefresh(
  deps: SendTokenRefreshDeps,
  request: TokenRequest,
  { errorContext, deadline, inDoubt, persistResponse }: SendTokenRefreshOptions,
): Promise<SendTokenRefreshResult> {
  let unsent = 0;
  let doubtful = inDoubt ? 1 : 0;
  let firstFailure: string | undefined;
  const earlierThan = (failure: string): string | undefined => (failure === firstFailure ? undefined : firstFailure);
  const failed = (error: CliError): SendTokenRefreshResult => ({ kind: 'failed', error, inDoubt: doubtful > 0 });
  for (;;) {
    let complete: RawTokenResponse | undefined;
    const onComplete = (response: RawTokenResponse): void => {
      if (complete === undefined && isSuccessStatus(response) && response.body !== undefined)
        persistResponse(response.body);
      complete = response;
    };
    try {
      const send = observeResponse(await deps.createSender(), deps, request, onComplete);
      const raw = await sendTokenRequest(
        send,
        request,
        AbortSignal.any([deadline, createRunningTimeTimeoutSignal(30_000)]),
      );
      onComplete(raw);
      const failure = `an earlier response to the same request had status ${raw.status}`;
      const earlierFailure = earlierThan(failure);
      const answered: SendTokenRefreshResult = { kind: 'answered', raw, earlierFailure };
      if (raw.status !== 429 && !isServerFailureStatus(raw.status)) return answered;
      const isOver = raw.status === 429 ? ++unsent > 2 : ++doubtful > 1;
      const result = decodeTokenResponse(raw);
      // The error code ends the session, whatever the status is, but only when the request was repeated.
      if (isOver && isInvalidGrant(result)) return answered;
      if (isOver && result.kind !== 'granted')
        return failed(tokenEndpointError(result, { ...errorContext, earlierFailure }));
      if (raw.status !== 429) firstFailure ??= failure;
    } catch (error) {
      if (!(error instanceof HttpSendError)) throw error;
      // The tokens are complete, so an error at the end of the body or of its connection has no effect.
      if (complete !== undefined && isSuccessStatus(complete))
        return { kind: 'answered', raw: complete, earlierFailure: firstFailure };
      const failure = `an earlier response to the same request was lost: ${error.message}`;
      const isOver = error.sent ? ++doubtful > 1 : ++unsent > 2;
      // Another attempt would meet the same certificate, or the same proxy with the same credentials.
      if (isOver || error.isFinal)
        return failed(
          tokenRequestWithoutResponseError(error, 'refresh', {
            detail: joinDetails(earlierThan(failure), doubtful > 0 ? outcomeUnknown : sessionKeptMessage),
          }),
        );
      if (error.sent) firstFailure ??= failure;
    }
    // After the deadline, the next attempt fails immediately with the timeout error.
    await deps.clock.sleep(250 * (unsent + doubtful), deadline).catch(() => undefined);
  }
}

/** Whether the server rejected the refresh token, which is the only response that ends a session. */
export function isInvalidGrant(result: TokenResult): boolean {
  return result.kind === 'refused' && result.error === 'invalid_grant';
}

export function isSuccessStatus({ status }: Pick<RawTokenResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Reports the response at the last byte of its Content-Length, because the end of the stream arrives milliseconds later. */
function observeResponse(
  send: HttpSender,
  deps: FailpointObserver,
  { secrets }: TokenRequest,
  onComplete: (response: RawTokenResponse) => void,
): HttpSender {
  return async (url, init) => {
    reachFailpoint(deps, 'K3-sending');
    const response = await send(url, init);
    reachFailpoint(deps, 'K6-answering');
    const onText = (body: string): void =>
      onComplete({ status: response.status, contentType: readContentType(response, secrets), body });
    return response.body === null
      ? response
      : { ...response, body: observeBody(response, response.body, deps, onText) };
  };
}

async function* observeBody(
  { status, headers }: HttpResponse,
  body: AsyncIterable<Uint8Array>,
  deps: FailpointObserver,
  onText: (text: string) => void,
): AsyncGenerator<Uint8Array> {
  // The Content-Length of a compressed body is not the length of the decompressed body.
  const announced = headers.get('content-encoding') === null ? Number(headers.get('content-length') ?? -1) : -1;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      reachFailpoint(deps, 'K6-partial');
      size += chunk.byteLength;
      if (size <= bodyLimit) chunks.push(chunk);
      if (size === announced && size <= bodyLimit) onText(decodeText(chunks));
      yield chunk;
    }
  } catch (error) {
    // The last chunk or the end of the compression is missing, or the announced length is wrong, but the new tokens may be complete.
    const text = decodeText(chunks);
    if (size <= bodyLimit && hasNewTokens({ status, contentType: '', body: text })) onText(text);
    throw error;
  }
}

function decodeText(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether the text of an incomplete response is a complete grant, or has at least a new refresh token. */
function hasNewTokens(response: RawTokenResponse): boolean {
  const result = decodeTokenResponse(response);
  return result.kind === 'granted' || (result.kind === 'malformed' && result.partial !== undefined);
}

/** The maximum length of a body that sendTokenRequest reads, in bytes. */
const bodyLimit = 1024 * 1024;

/** Text for the detail of the error of a refresh. */
export const sessionKeptMessage = 'the session was kept';
const outcomeUnknown =
  'it is not known whether the server processed the request; the session was kept, and the next command checks it';
