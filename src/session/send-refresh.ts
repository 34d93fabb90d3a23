import type { CliError } from '../errors.ts';
import {
  processTokenResponse,
  sendTokenRequest,
  type TokenRequest,
  type TokenResponse,
} from '../oauth/token-endpoint.ts';
import type { Clock } from '../platform/host.ts';
import { type HttpResponse, type HttpSender, SendError } from '../platform/http-sender.ts';
import { timeoutWhileRunning } from '../platform/timeout-while-running.ts';
import { type FailpointObserver, reachFailpoint } from './failpoints.ts';
import { isServerFailure, type TokenErrorContext, tokenError, tokenRequestError } from './token-errors.ts';

export interface SendRefreshDeps extends FailpointObserver {
  /** A connection of its own for every request. */
  readonly createSender: () => Promise<HttpSender>;
  readonly clock: Clock;
}

export interface SendRefreshOptions {
  readonly errorContext: TokenErrorContext;
  /** Ends all attempts of a command. */
  readonly deadline: AbortSignal;
  /** An earlier command has left it open whether the request was processed. */
  readonly inDoubt: boolean;
  /** Takes the body of a success at its last byte, before anything else is done. */
  readonly persistResponse: (body: string) => void;
}

export type SendRefreshResult =
  | { readonly kind: 'answered'; readonly raw: TokenResponse }
  /** `inDoubt`: one of the requests may have been processed. */
  | { readonly kind: 'failed'; readonly error: CliError; readonly inDoubt: boolean };

/**
 * Up to three tries while the request was certainly not processed (never sent, or a complete 429); after a doubtful end the
 * same refresh token once more, which can lose nothing, since it is all we own. A command that begins in doubt asks once.
 */
export async function sendRefresh(
  deps: SendRefreshDeps,
  request: TokenRequest,
  { errorContext, deadline, inDoubt, persistResponse }: SendRefreshOptions,
): Promise<SendRefreshResult> {
  let unsent = 0;
  let doubts = inDoubt ? 1 : 0;
  const failed = (error: CliError): SendRefreshResult => ({ kind: 'failed', error, inDoubt: doubts > 0 });
  for (;;) {
    let whole: TokenResponse | undefined;
    const onWhole = (answer: TokenResponse): void => {
      if (whole === undefined && isSuccessStatus(answer) && answer.body !== undefined) persistResponse(answer.body);
      whole = answer;
    };
    try {
      const send = observeResponse(await deps.createSender(), deps, onWhole);
      const raw = await sendTokenRequest(send, request, AbortSignal.any([deadline, timeoutWhileRunning(30_000)]));
      onWhole(raw);
      if (raw.status !== 429 && !isServerFailure(raw.status)) return { kind: 'answered', raw };
      const isOver = raw.status === 429 ? ++unsent > 2 : ++doubts > 1;
      const result = processTokenResponse(raw);
      if (isOver && result.kind !== 'granted') return failed(tokenError(result, errorContext));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // The answer was whole, so how its connection ended is of no account.
      if (whole !== undefined && isSuccessStatus(whole)) return { kind: 'answered', raw: whole };
      const isOver = error.sent ? ++doubts > 1 : ++unsent > 2;
      // A certificate does not become valid by asking again.
      if (isOver || error.kind === 'tls')
        return failed(tokenRequestError(error, 'refresh', { detail: doubts > 0 ? outcomeUnknown : sessionKept }));
    }
    // When the time is over the next try ends at once, with the words for it.
    await deps.clock.sleep(250 * (unsent + doubts), deadline).catch(() => undefined);
  }
}

export function isSuccessStatus({ status }: Pick<TokenResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Notices the last byte that was announced: the end of the stream takes milliseconds more to be told. */
function observeResponse(
  send: HttpSender,
  deps: FailpointObserver,
  onWhole: (answer: TokenResponse) => void,
): HttpSender {
  return async (url, init) => {
    reachFailpoint(deps, 'K3-sending');
    const answer = await send(url, init);
    reachFailpoint(deps, 'K6-answering');
    return answer.body === null ? answer : { ...answer, body: observeBody(answer, answer.body, deps, onWhole) };
  };
}

async function* observeBody(
  { status, headers }: HttpResponse,
  body: AsyncIterable<Uint8Array>,
  deps: FailpointObserver,
  onWhole: (answer: TokenResponse) => void,
): AsyncGenerator<Uint8Array> {
  // Of a compressed body the length on the way is announced, which says nothing here.
  const announced = headers.get('content-encoding') === null ? Number(headers.get('content-length') ?? -1) : -1;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    reachFailpoint(deps, 'K6-partial');
    size += chunk.byteLength;
    if (size <= announced) chunks.push(chunk);
    if (size === announced && size <= bodyLimit)
      onWhole({ status, contentType: headers.get('content-type') ?? '', body: Buffer.concat(chunks).toString('utf8') });
    yield chunk;
  }
}

/** The longest body that sendTokenRequest reads, in bytes. */
const bodyLimit = 1024 * 1024;

/** For the detail of an error. */
export const sessionKept = 'the session was kept';
const outcomeUnknown =
  'it is not known whether the server processed the request; the session was kept, and the next command checks it';
