import { tlsCureFor } from '../api/client.ts';
import { CliError } from '../errors.ts';
import {
  processTokenAnswer,
  type RawAnswer,
  sendTokenRequest,
  type TokenRequest,
  type TokenResult,
} from '../oauth/token-endpoint.ts';
import type { Clock } from '../platform/host.ts';
import { runningTimeout } from '../platform/running-time.ts';
import { type Answer, failureCode, type Send, SendError } from '../platform/send.ts';
import { pass, type Reached } from './points.ts';

export interface AttemptDeps extends Reached {
  /** A connection of its own for every request. */
  readonly send: () => Promise<Send>;
  readonly clock: Clock;
}

export interface AttemptOptions {
  /** The authorization server, for the words of an error. */
  readonly origin: string;
  /** Ends all attempts of a command. */
  readonly deadline: AbortSignal;
  /** An earlier command has left it open whether the request was processed. */
  readonly inDoubt: boolean;
  /** Takes the body of a success at its last byte, before anything else is done. */
  readonly keep: (body: string) => void;
}

export type Attempted =
  | { readonly kind: 'answered'; readonly raw: RawAnswer }
  /** `inDoubt`: one of the requests may have been processed. */
  | { readonly kind: 'failed'; readonly error: CliError; readonly inDoubt: boolean };

/**
 * Up to three tries while the request was certainly not processed (never sent, or a complete 429); after a doubtful end the
 * same refresh token once more, which can lose nothing, since it is all we own. A command that begins in doubt asks once.
 */
export async function attempts(
  deps: AttemptDeps,
  request: TokenRequest,
  { origin, deadline, inDoubt, keep }: AttemptOptions,
): Promise<Attempted> {
  let unsent = 0;
  let doubts = inDoubt ? 1 : 0;
  const failed = (error: CliError): Attempted => ({ kind: 'failed', error, inDoubt: doubts > 0 });
  for (;;) {
    let whole: RawAnswer | undefined;
    const onWhole = (answer: RawAnswer): void => {
      if (whole === undefined && isSuccess(answer) && answer.body !== undefined) keep(answer.body);
      whole = answer;
    };
    try {
      const send = observed(await deps.send(), deps, onWhole);
      const raw = await sendTokenRequest(send, request, AbortSignal.any([deadline, runningTimeout(30_000)]));
      onWhole(raw);
      if (raw.status !== 429 && raw.status < 500) return { kind: 'answered', raw };
      const isOver = raw.status === 429 ? ++unsent > 2 : ++doubts > 1;
      const result = processTokenAnswer(raw);
      if (isOver && result.kind !== 'granted') return failed(notGranted(origin, result));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // The answer was whole, so how its connection ended is of no account.
      if (whole !== undefined && isSuccess(whole)) return { kind: 'answered', raw: whole };
      const isOver = error.sent ? ++doubts > 1 : ++unsent > 2;
      // A certificate does not become valid by asking again.
      if (isOver || error.kind === 'tls') return failed(unreachable(error, doubts > 0));
    }
    // When the time is over the next try ends at once, with the words for it.
    await deps.clock.sleep(250 * (unsent + doubts), deadline).catch(() => undefined);
  }
}

export function isSuccess({ status }: Pick<RawAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Notices the last byte that was announced: the end of the stream takes milliseconds more to be told. */
function observed(send: Send, deps: Reached, onWhole: (answer: RawAnswer) => void): Send {
  return async (url, init) => {
    pass(deps, 'K3-sending');
    const answer = await send(url, init);
    pass(deps, 'K6-answering');
    return answer.body === null ? answer : { ...answer, body: watched(answer, answer.body, deps, onWhole) };
  };
}

async function* watched(
  { status, headers }: Answer,
  body: AsyncIterable<Uint8Array>,
  deps: Reached,
  onWhole: (answer: RawAnswer) => void,
): AsyncGenerator<Uint8Array> {
  // Of a compressed body the length on the way is announced, which says nothing here.
  const announced = headers.get('content-encoding') === null ? Number(headers.get('content-length') ?? -1) : -1;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    pass(deps, 'K6-partial');
    size += chunk.byteLength;
    if (size <= announced) chunks.push(chunk);
    if (size === announced && size <= bodyLimit)
      onWhole({ status, contentType: headers.get('content-type') ?? '', body: Buffer.concat(chunks).toString('utf8') });
    yield chunk;
  }
}

/** What sendTokenRequest reads at most. */
const bodyLimit = 1024 * 1024;

function unreachable(error: SendError, inDoubt: boolean): CliError {
  const code = failureCode(error);
  return new CliError(code, `could not refresh the session: ${error.message}`, {
    detail: inDoubt
      ? 'whether the server renewed it is not known; the session was kept, and the next command finds out'
      : 'the session was kept',
    hint: code === 'tls' ? tlsCureFor(error) : 'run the command again when the server can be reached',
  });
}

/** The error for an answer that is no grant and no end of the session. */
export function notGranted(origin: string, result: Exclude<TokenResult, { kind: 'granted' }>): CliError {
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
