import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../platform/host.ts';
import { type Answer, jsonAnswer, pageAnswer, redirectAnswer, refusalAnswer } from './answer.ts';
import { bridgePage } from './bridge.ts';
import { type CallbackUrl, parseCallbackUrl } from './callback-url.ts';
import { wire } from './connections.ts';
import { type Crowd, createCrowd } from './crowd.ts';
import { decide } from './decide.ts';
import { closeServer, listenOnFirst } from './listen.ts';
import { createLogin, type Login } from './login.ts';
import { outcomePage, type PageOutcome } from './pages.ts';
import { bodyLimit, readBody } from './read-body.ts';
import type { LoopbackRequest } from './request.ts';
import type { Expected, Judge } from './rule.ts';

export interface LoopbackOptions<Accepted> {
  /** The first that can be bound wins; port 0 is any free port. */
  readonly callbackUrls: readonly string[];
  readonly flow: 'code' | 'implicit';
  /** Origin of the authorization server. */
  readonly authorizationOrigin: string;
  readonly judge: Judge<Accepted>;
  /** The authorization URL for the redirect URI in use, which is known only once the port is. */
  readonly startTarget: (callbackUrl: string) => string;
  /** Called once, when a response was taken: what it resolves with is what the tab is told. */
  readonly finish: (accepted: Accepted) => Promise<PageOutcome>;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
}

export interface Loopback<Accepted> {
  /** The redirect URI, with the port that was bound. */
  readonly callbackUrl: string;
  readonly authorizationUrl: string;
  /** Redirects to the authorization URL once: an opener's arguments are visible to other users, so it is given this one. */
  readonly startUrl: string;
  /** Settles when a response was taken, before `finish` is done with it. Stays pending when the helper is closed first. */
  readonly taken: Promise<Accepted>;
  /** Settles as `finish` does. */
  readonly finished: Promise<PageOutcome>;
  /** Takes a response that came another way; false when one was taken before, or the helper is closed. */
  take(accepted: Accepted): boolean;
  /** Settles when the port is free: after the tab was told, after 5 s without a tab that asks, or by `close`. */
  readonly closed: Promise<void>;
  /** Ends listener and connections at once, whatever they wait for. */
  close(): Promise<void>;
}

/** Starts the helper. CliError `port_in_use` or `config_invalid` when no callback URL can be served. */
export async function startLoopback<Accepted>(options: LoopbackOptions<Accepted>): Promise<Loopback<Accepted>> {
  const { callback, servers, open } = await listenOnFirst(options.callbackUrls.map(parseCallbackUrl));
  const crowd = createCrowd(socketLimit, options.clock.now);
  const login = createLogin({
    finish: options.finish,
    clock: options.clock,
    release: async () => {
      const done = servers.map(closeServer);
      crowd.disperse();
      await Promise.all(done);
    },
  });
  const helper: Helper<Accepted> = {
    login,
    crowd,
    expected: expectedOf(options, callback),
    authorizationUrl: options.startTarget(callback.href),
  };
  for (const server of servers) {
    wire(server, crowd, (message, response) => void answer(helper, message, response, readRequest(message)));
  }
  open();
  return {
    callbackUrl: callback.href,
    authorizationUrl: helper.authorizationUrl,
    startUrl: `http://${callback.host}${helper.expected.paths.start}`,
    taken: login.taken,
    finished: login.finished,
    take: (accepted) => login.take(accepted, 'elsewhere'),
    closed: login.closed,
    close: login.close,
  };
}

interface Helper<Accepted> {
  readonly login: Login<Accepted>;
  readonly crowd: Crowd;
  readonly expected: Expected<Accepted>;
  readonly authorizationUrl: string;
}

/** More open sockets than any browser needs, few enough to keep memory flat. */
const socketLimit = 64;

function expectedOf<Accepted>(options: LoopbackOptions<Accepted>, callback: CallbackUrl): Expected<Accepted> {
  const word = () => Buffer.from(options.random(32)).toString('base64url');
  return {
    host: callback.host,
    flow: options.flow,
    callbackQuery: callback.query,
    authorizationOrigin: options.authorizationOrigin,
    nonce: word(),
    judge: options.judge,
    paths: {
      callback: callback.path,
      relay: `${callback.path.replace(/\/$/, '')}/fragment`,
      start: `/start/${word()}`,
      done: `/done/${word()}`,
    },
  };
}

function readRequest(message: IncomingMessage): LoopbackRequest {
  return {
    peerAddress: message.socket.remoteAddress,
    method: message.method ?? '',
    rawTarget: message.url ?? '',
    rawHeaders: message.rawHeaders,
  };
}

async function answer<Accepted>(
  helper: Helper<Accepted>,
  message: IncomingMessage,
  response: ServerResponse,
  request: LoopbackRequest,
): Promise<void> {
  const { expected, login } = helper;
  const decision = decide(expected, login.phase(), request);
  switch (decision.kind) {
    case 'refuse':
      return send(response, refusalAnswer(decision));
    case 'read_body': {
      const body = await readBody(message, bodyLimit);
      return body && answer(helper, message, response, { ...request, body });
    }
    case 'start':
      login.start();
      return send(response, redirectAnswer(helper.authorizationUrl));
    case 'bridge':
      return send(response, pageAnswer(bridgePage(expected.paths.relay, expected.nonce)));
    case 'taken':
      login.take(decision.accepted, 'tab');
      return send(
        response,
        decision.place === 'query' ? redirectAnswer(expected.paths.done) : jsonAnswer({ next: expected.paths.done }),
      );
    case 'done':
      return tell(helper, response);
    default:
      return decision satisfies never;
  }
}

/** The tab is kept waiting until the exchange is over, so that its page says how it ended. */
async function tell<Accepted>({ login, crowd }: Helper<Accepted>, response: ServerResponse): Promise<void> {
  const leave = login.tabWaits();
  response.once('close', () => leave(response.writableFinished));
  if (response.socket !== null) {
    crowd.owe(response.socket);
  }
  send(response, pageAnswer(outcomePage(await login.outcome())));
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  if (!response.destroyed) {
    response.writeHead(status, headers).end(body);
  }
}
