import type { IncomingMessage, ServerResponse } from 'node:http';
import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { createDeferred } from '../../platform/waiting.ts';
import {
  decide,
  type Expectations,
  type HelperRequest,
  headerValues,
  type Phase,
  type ResponseValidator,
  refuse,
} from './decide.ts';
import {
  attachListener,
  jsonResponse,
  pageResponse,
  readBody,
  redirectResponse,
  refusalResponse,
  SocketLimiter,
  sendResponse,
} from './http.ts';
import { bindFirst, type CallbackUrl, closeServer, type ListenAddress, parseCallback } from './listen.ts';
import { bridgePage, outcomePage, type TabAnswer } from './pages.ts';
import { isInNetworks, isPeerOfOtherUser, type OnRefusedPeer } from './peers.ts';

export interface LoopbackOptions<Accepted> {
  /** The server uses the first callback URL that can be bound; port 0 means any free port. */
  readonly callbackUrls: readonly string[];
  readonly flow: 'code' | 'implicit';
  /** Origin of the authorization server. */
  readonly authorizationOrigin: string;
  readonly validate: ResponseValidator<Accepted>;
  /** Creates the authorization URL for the redirect URI, which is known only after the port was bound. */
  readonly authorizationUrl: (callbackUrl: string) => string;
  /** Called once with the accepted response; the browser tab shows the result as the outcome. */
  readonly finish: (accepted: Accepted) => Promise<TabAnswer>;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
  /** Where the server listens (default: at the address of the callback URL). */
  readonly listenAddress?: ListenAddress | undefined;
  readonly onRefusedPeer?: OnRefusedPeer | undefined;
  /** Called when a request was refused because its target and headers are over 64 KiB, or its body is over 16 KiB. */
  readonly onOversizedRequest?: ((part: 'headers' | 'body') => void) | undefined;
}

export interface LoopbackServer<Accepted> {
  /** The redirect URI with the bound port. */
  readonly callbackUrl: string;
  readonly authorizationUrl: string;
  /**
   * A URL on the loopback server that redirects to the authorization URL once. The command that opens the browser receives the
   * start URL, because other users can see the arguments of the command.
   */
  readonly startUrl: string;
  /** A short URL that redirects to the authorization URL, to type or click where the port is forwarded to another machine. */
  readonly shortUrl: string;
  /**
   * Settles when a response was accepted, which is before `finish` has ended. The promise stays pending when the server is
   * closed before a response is accepted.
   */
  readonly taken: Promise<Accepted>;
  /** Settles with the result of the function `finish`. */
  readonly finished: Promise<TabAnswer>;
  /** Accepts a response that the user pasted; returns false when another response was accepted before or the server is closed. */
  take(accepted: Accepted): boolean;
  /**
   * Settles when the port is free: after the browser tab has received its page, after 5 s without a request for the page, or
   * after `close`.
   */
  readonly closed: Promise<void>;
  /** Closes the loopback server and all its connections at once. */
  close(): Promise<void>;
}

/** Starts the loopback server. Throws `port_in_use` or `config_invalid` when none of the callback URLs can be used. */
export async function startLoopback<Accepted>(options: LoopbackOptions<Accepted>): Promise<LoopbackServer<Accepted>> {
  const { callback, servers, open } = await bindFirst(options.callbackUrls.map(parseCallback), options.listenAddress);
  const sockets = new SocketLimiter(socketLimit, options.clock.now);
  const login = new Login<Accepted>({
    finish: options.finish,
    clock: options.clock,
    release: async () => {
      const done = servers.map(closeServer);
      sockets.destroyAll();
      await Promise.all(done);
    },
  });
  const expected = expectations(options, callback);
  const authorizationUrl = await urlOrRelease(options, callback, login);
  const helper: Helper<Accepted> = { login, sockets, expected, authorizationUrl, options };
  const acceptPeer = (address: string | undefined): boolean => {
    const isAllowed = expected.isAllowedPeer(address);
    if (!isAllowed && address !== undefined) options.onRefusedPeer?.(address, 'address');
    return isAllowed;
  };
  const onOversizedHeaders = () => options.onOversizedRequest?.('headers');
  for (const server of servers) {
    attachListener(
      server,
      { sockets, acceptPeer, onOversizedHeaders },
      (message, response) =>
        // An error in a callback of the caller ends the login, not the process.
        void respond(helper, message, response, readRequest(message)).catch((error: unknown) => {
          response.destroy();
          login.fail(error);
        }),
    );
  }
  open();
  return {
    callbackUrl: callback.href,
    authorizationUrl,
    startUrl: `http://${callback.host}${expected.paths.start}`,
    shortUrl: `http://${callback.host}${expected.paths.short}`,
    taken: login.taken,
    finished: login.finished,
    take: (accepted) => login.take(accepted),
    closed: login.closed,
    close: () => login.close(),
  };
}

/** The caller's authorization URL; its error must not leave the port open. */
async function urlOrRelease<Accepted>(
  { authorizationUrl }: LoopbackOptions<Accepted>,
  { href }: CallbackUrl,
  login: Login<Accepted>,
): Promise<string> {
  try {
    return authorizationUrl(href);
  } catch (error) {
    await login.close();
    throw error;
  }
}

interface Helper<Accepted> {
  readonly login: Login<Accepted>;
  readonly sockets: SocketLimiter;
  readonly expected: Expectations<Accepted>;
  readonly authorizationUrl: string;
  readonly options: Pick<LoopbackOptions<Accepted>, 'onRefusedPeer' | 'onOversizedRequest'>;
}

/** The maximum number of open sockets: more than a browser needs, but few enough to limit the memory. */
const socketLimit = 64;

function expectations<Accepted>(options: LoopbackOptions<Accepted>, callback: CallbackUrl): Expectations<Accepted> {
  const word = () => Buffer.from(options.random(32)).toString('base64url');
  const allowedPeers = options.listenAddress?.allowedPeers;
  return {
    isAllowedPeer: (address) =>
      allowedPeers === undefined ? isLoopbackPeer(address) : isInNetworks(address, allowedPeers),
    host: callback.host,
    flow: options.flow,
    callbackQuery: callback.query,
    authorizationOrigin: options.authorizationOrigin,
    nonce: word(),
    validate: options.validate,
    paths: {
      callback: callback.path,
      relay: `${callback.path.replace(/\/$/, '')}/fragment`,
      start: `/start/${word()}`,
      done: `/done/${word()}`,
      // Five bytes cannot be guessed within the time limit of a login, and a person can type them.
      short: `/${Buffer.from(options.random(5)).toString('hex')}`,
    },
  };
}

function readRequest(message: IncomingMessage): HelperRequest {
  return {
    peerAddress: message.socket.remoteAddress,
    isOtherUser: isPeerOfOtherUser(message.socket),
    method: message.method ?? '',
    rawTarget: message.url ?? '',
    rawHeaders: message.rawHeaders,
  };
}

async function respond<Accepted>(
  helper: Helper<Accepted>,
  message: IncomingMessage,
  response: ServerResponse,
  request: HelperRequest,
): Promise<void> {
  const { expected, login, options } = helper;
  const { phase } = login;
  const decision = decide(expected, phase, request);
  // The rule for users precedes all others but that for addresses, which the connection has passed.
  if (request.isOtherUser === true && phase.kind === 'armed')
    options.onRefusedPeer?.(request.peerAddress ?? '', 'user');
  switch (decision.kind) {
    case 'refuse':
      if (decision.reason === 'body_too_large') options.onOversizedRequest?.('body');
      return sendResponse(response, refusalResponse(decision, login.ended));
    case 'read_body': {
      const body = await readBody(message);
      return body && respond(helper, message, response, { ...request, body });
    }
    case 'start':
      login.markStarted();
      return sendResponse(response, redirectResponse(helper.authorizationUrl));
    case 'short':
      return sendResponse(response, redirectResponse(helper.authorizationUrl));
    case 'start_again':
      login.fail(startedTwiceError());
      return sendResponse(response, refusalResponse(refuse('already_started')));
    case 'bridge':
      return sendResponse(response, pageResponse(bridgePage(expected.paths.relay, expected.nonce)));
    case 'taken': {
      login.take(decision.accepted, decision.response);
      const { done } = expected.paths;
      return sendResponse(response, decision.place === 'query' ? redirectResponse(done) : jsonResponse({ next: done }));
    }
    case 'done':
    case 'again':
      return respondWithOutcome(helper, response, { request, isLast: decision.kind === 'done' });
    default:
      return decision satisfies never;
  }
}

function startedTwiceError(): CliError {
  return new CliError('state_mismatch', 'could not log in: the one-time start URL was opened twice', {
    detail:
      'other users of this machine can read the URL in the list of processes, so one of the two requests may not be yours',
    hint: 'start the login again, with `--paste` if the error occurs again',
  });
}

/** The response to the browser tab is delayed until the login has ended, so that the page shows the outcome. */
async function respondWithOutcome<Accepted>(
  { login, sockets }: Helper<Accepted>,
  response: ServerResponse,
  { request, isLast }: { readonly request: HelperRequest; readonly isLast: boolean },
): Promise<void> {
  // A program that follows links before the browser opens them sends no Sec-Fetch header.
  const reader = headerValues(request, 'sec-fetch-dest').length > 0 ? 'browser' : 'program';
  const leave = login.tabWaits();
  response.once('close', () => leave(isLast && response.writableFinished ? reader : undefined));
  if (response.socket !== null) sockets.markPending(response.socket);
  const outcome = await login.outcome();
  if (outcome.kind === 'continue' && isLast) return sendResponse(response, redirectResponse(outcome.url));
  const page = outcomePage(outcome.kind === 'continue' ? { kind: 'unfinished' } : outcome);
  sendResponse(response, pageResponse(isLast ? page : { ...page, status: 410 }));
}

interface LoginOptions<Accepted> {
  readonly finish: (accepted: Accepted) => Promise<TabAnswer>;
  readonly clock: Clock;
  /** Closes the loopback server and all its connections. */
  readonly release: () => Promise<void>;
}

/** The phases of one login, and when its port closes. */
export class Login<Accepted> {
  readonly #options: LoginOptions<Accepted>;
  readonly #taken = createDeferred<Accepted>();
  readonly #finished = createDeferred<TabAnswer>();
  readonly #answered = createDeferred<Reader>();
  readonly #closed = createDeferred<void>();
  readonly #closing = new AbortController();
  #phase: Phase = { kind: 'armed', started: false };
  #ended: TabAnswer | undefined;
  #late: Promise<TabAnswer> | undefined;
  #tabs = 0;
  #idle = createDeferred<void>();

  constructor(options: LoginOptions<Accepted>) {
    this.#options = options;
    // The rejections are marked as handled, because not every caller awaits both promises.
    this.taken.catch(() => undefined);
    void this.finished
      .catch(() => failure)
      .then((outcome) => {
        this.#ended = outcome;
      });
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The outcome of a login that has ended. */
  get ended(): TabAnswer | undefined {
    return this.#ended;
  }

  get taken(): Promise<Accepted> {
    return this.#taken.promise;
  }

  get finished(): Promise<TabAnswer> {
    return this.#finished.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Records that the start link was opened; the link works only once. */
  markStarted(): void {
    if (this.#phase.kind === 'armed') this.#phase = { kind: 'armed', started: true };
  }

  /**
   * Accepts a response synchronously, so that no second response is accepted; returns false when the login is not armed.
   * @param response the raw response, if a browser tab sent it and waits for its page
   */
  take(accepted: Accepted, response?: string): boolean {
    if (this.#phase.kind !== 'armed') return false;
    this.#phase = { kind: 'taken', response };
    this.#taken.resolve(accepted);
    this.#finished.resolve((async () => this.#options.finish(accepted))());
    void this.#windDown(response !== undefined);
    return true;
  }

  /** Ends the wait for an authorization response with an error. */
  fail(error: unknown): void {
    if (this.#phase.kind !== 'armed') return;
    this.#phase = { kind: 'taken' };
    this.#taken.resolve(Promise.reject(error));
    this.#finished.resolve(Promise.reject(error));
  }

  /** The outcome for the browser tabs: the result of `finish`, or after one minute the message that the login is still in progress. */
  async outcome(): Promise<TabAnswer> {
    if (this.#ended !== undefined) return this.#ended;
    const unfinished: TabAnswer = { kind: 'unfinished' };
    // All tabs share one timer.
    this.#late ??= this.#pause(maxTabWaitMs).then(() => unfinished);
    return Promise.race([this.finished.catch(() => failure), this.#late]);
  }

  /**
   * Registers a browser tab that waits for the outcome. The caller calls the returned function when the tab is gone, with a
   * value if it was the tab that followed the redirect and has its page.
   */
  tabWaits(): (reader?: Reader) => void {
    if (this.#tabs === 0) this.#idle = createDeferred();
    this.#tabs += 1;
    return (reader) => {
      this.#tabs -= 1;
      if (reader !== undefined) this.#answered.resolve(reader);
      if (this.#tabs === 0) this.#idle.resolve();
    };
  }

  close(): Promise<void> {
    if (this.#phase.kind !== 'closed') {
      this.#phase = { kind: 'closed' };
      this.#closing.abort();
      this.#closed.resolve(this.#options.release());
    }
    return this.closed;
  }

  async #windDown(isTabExpected: boolean): Promise<void> {
    const answered = isTabExpected ? this.#answered.promise : this.outcome().then(() => undefined);
    const reader = await Promise.race([answered, this.#pause(tabGraceMs)]);
    // A login that continues needs the port for its next response.
    if (reader === 'program' && this.#ended?.kind !== 'continue') await this.#pause(programGraceMs);
    if (this.#tabs > 0) {
      await this.outcome();
      await Promise.race([this.#idle.promise, this.#pause(tabGraceMs)]);
    }
    await this.close();
  }

  #pause(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms, this.#closing.signal).catch(() => undefined);
  }
}

/** Who read the page of the tab that followed the redirect. */
type Reader = 'browser' | 'program';

const failure: TabAnswer = { kind: 'failed', reason: 'The login failed; the terminal shows the error' };

/** Milliseconds for which the port stays open for a browser tab that does not request its page (SECURITY.md rule 28). */
const tabGraceMs = 5000;
/** Milliseconds for which the port stays open after a program that is no browser has read the page of the tab. */
const programGraceMs = 500;
/** Milliseconds after which a waiting browser tab gets a page: longer than a code exchange, shorter than the timeout of browsers. */
const maxTabWaitMs = 60_000;
