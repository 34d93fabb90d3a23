import { tlsHintFor } from '../api/client.ts';
import { CliError } from '../errors.ts';
import {
  processTokenResponse,
  sendTokenRequest,
  type TokenParams,
  type TokenRequest,
  type TokenResponse,
  type TokenResult,
} from '../oauth/token-endpoint.ts';
import type { Clock } from '../platform/host.ts';
import { type HttpResponse, type HttpSender, SendError, sendErrorCode } from '../platform/http-sender.ts';
import { timeoutWhileRunning } from '../platform/timeout-while-running.ts';
import { type FailpointObserver, reachFailpoint } from './failpoints.ts';
import { otherTokenParamsCommand, profileCommand } from './suggested-commands.ts';

export interface SendRefreshDeps extends FailpointObserver {
  /** A connection of its own for every request. */
  readonly createSender: () => Promise<HttpSender>;
  readonly clock: Clock;
}

/** The authorization server and the way it is asked, for the words of an error. */
export interface TokenErrorContext {
  readonly origin: string;
  readonly profile: string;
  readonly tokenParams: TokenParams;
  /** It is of spec.md's kind for certain: its grant said whose account it is (spec.md §2). */
  readonly isSpecServer: boolean;
  /** The command that logs in again: what is left when it refuses each time without saying that the session is over. */
  readonly loginCommand: string;
}

export interface SendRefreshOptions {
  readonly server: TokenErrorContext;
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
  { server, deadline, inDoubt, persistResponse: keep }: SendRefreshOptions,
): Promise<SendRefreshResult> {
  let unsent = 0;
  let doubts = inDoubt ? 1 : 0;
  const failed = (error: CliError): SendRefreshResult => ({ kind: 'failed', error, inDoubt: doubts > 0 });
  for (;;) {
    let whole: TokenResponse | undefined;
    const onWhole = (answer: TokenResponse): void => {
      if (whole === undefined && isSuccessStatus(answer) && answer.body !== undefined) keep(answer.body);
      whole = answer;
    };
    try {
      const send = observeResponse(await deps.createSender(), deps, onWhole);
      const raw = await sendTokenRequest(send, request, AbortSignal.any([deadline, timeoutWhileRunning(30_000)]));
      onWhole(raw);
      if (raw.status !== 429 && !isServerFailure(raw.status)) return { kind: 'answered', raw };
      const isOver = raw.status === 429 ? ++unsent > 2 : ++doubts > 1;
      const result = processTokenResponse(raw);
      if (isOver && result.kind !== 'granted') return failed(refreshError(server, result));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // The answer was whole, so how its connection ended is of no account.
      if (whole !== undefined && isSuccessStatus(whole)) return { kind: 'answered', raw: whole };
      const isOver = error.sent ? ++doubts > 1 : ++unsent > 2;
      // A certificate does not become valid by asking again.
      if (isOver || error.kind === 'tls') return failed(refreshUnreachableError(error, doubts > 0));
    }
    // When the time is over the next try ends at once, with the words for it.
    await deps.clock.sleep(250 * (unsent + doubts), deadline).catch(() => undefined);
  }
}

/** A 408 says that the request did not come whole, but a proxy may say it that has passed it on. */
export function isServerFailure(status: number): boolean {
  return status >= 500 || status === 408;
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

/** What sendTokenRequest reads at most. */
const bodyLimit = 1024 * 1024;

function refreshUnreachableError(error: SendError, inDoubt: boolean): CliError {
  const code = sendErrorCode(error);
  return new CliError(code, `could not refresh the session: ${error.message}`, {
    detail: inDoubt
      ? 'whether the server renewed it is not known; the session was kept, and the next command finds out'
      : 'the session was kept',
    hint: code === 'tls' ? tlsHintFor(error) : 'run the command again when the server can be reached',
  });
}

/** The error for an answer that is no grant and no end of the session. */
export function refreshError(server: TokenErrorContext, result: Exclude<TokenResult, { kind: 'granted' }>): CliError {
  if (result.kind === 'malformed' && isServerFailure(result.status)) {
    return new CliError('api_error', `could not refresh the session: the server answered ${result.status}`, {
      detail: `${server.origin}; the session was kept`,
      hint: 'run the command again later',
      status: result.status,
    });
  }
  if (result.kind === 'malformed') {
    return new CliError(
      'api_error',
      'could not refresh the session: the answer of the authorization server is not understood',
      {
        detail: `${server.origin}: ${result.reason}; the session was kept`,
        hint: `check auth_url with \`cloudctl config list\`, then ${hintAfterMalformed(server, result.status)}`,
        status: result.status,
      },
    );
  }
  const code = result.error === 'invalid_client' ? 'invalid_client' : 'api_error';
  return new CliError(code, `could not refresh the session: the authorization server answered ${result.error}`, {
    detail: `${(result.description ?? `status ${result.status}`).replace(/\.$/, '')}; the session was kept`,
    hint: hintAfterRefusal(server, result.error),
    status: result.status,
  });
}

/**
 * In the way `query` no credentials go with a refresh (spec.md §5.3), so a server that misses them, or finds no parameters there,
 * wants a form. Others say so of a refresh token that has ended, which should be `invalid_grant` (RFC 6749 §5.2): a login helps then.
 */
function hintAfterRefusal(server: TokenErrorContext, error: string): string {
  const { profile, tokenParams, isSpecServer: isOfSpec } = server;
  const isUnread = error === 'invalid_request' || error === 'unsupported_grant_type';
  // Some servers say that the client may not do it of credentials that they do not find (RFC 6749 §5.2 has invalid_client for it).
  const isOfClient = error === 'invalid_client' || error === 'unauthorized_client';
  if (tokenParams === 'query' && !isOfSpec && (isUnread || isOfClient))
    return `${otherTokenParamsCommand(profile, tokenParams)}, then ${retryHint(server)}`;
  if (!isOfClient) return retryHint(server);
  const setup = `${profileCommand(profile, 'auth setup')} sets the client id and secret`;
  if (tokenParams === 'query') return setup;
  return `${setup}; if they are right: ${otherTokenParamsCommand(profile, tokenParams)}, then ${retryHint(server)}`;
}

/** A refusal without a code: of a server that found nothing where it looked, of a session that has ended, or of no such server. */
function hintAfterMalformed(server: TokenErrorContext, status: number): string {
  const { profile, tokenParams, isSpecServer: isOfSpec } = server;
  if (status < 400) return 'run the command again';
  if (tokenParams !== 'query' || isOfSpec) return retryHint(server);
  return `${retryHint(server)}; the server may also want a form: ${otherTokenParamsCommand(profile, tokenParams)}`;
}

function retryHint({ loginCommand: login }: TokenErrorContext): string {
  return `run the command again; if it stays so: ${login}`;
}
