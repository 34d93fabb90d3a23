import type { IncomingMessage, ServerResponse } from 'node:http';
import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { isPeerInAllowedNetworks } from './allowed-callback-client-network.ts';
import { bindFirstAvailableCallbackUrl, type CallbackListenAddress, closeLoopbackListener } from './bind-listener.ts';
import { renderImplicitFlowBridgePage } from './bridge-page.ts';
import { decideLoopbackRequest } from './decide-loopback-request.ts';
import { isTcpPeerOfOtherUser } from './is-tcp-peer-of-other-user.ts';
import { createLoginStateMachine, type LoginStateMachine } from './login-state-machine.ts';
import { type LoopbackCallbackUrl, parseConfiguredCallbackUrl } from './loopback-callback.ts';
import type { LoopbackHttpRequest } from './loopback-http-request.ts';
import {
  buildLoopbackJsonResponse,
  buildLoopbackPageResponse,
  buildLoopbackRedirectResponse,
  buildLoopbackRefusalResponse,
  type LoopbackHttpResponse,
} from './loopback-http-response.ts';
import { type BrowserTabResponse, renderLoginOutcomePage } from './outcome-page.ts';
import { maxLoopbackRequestBodyBytes, readLoopbackRequestBody } from './read-request-body.ts';
import { buildLoopbackRefusal, type RefusedPeerCallback } from './refusal.ts';
import type { AuthorizationResponseValidator, LoopbackRequestExpectations } from './request-decision.ts';
import { attachSecuredRequestListener } from './request-listener.ts';
import { createSocketLimiter, type SocketLimiter } from './socket-limiter.ts';

export interface LoopbackOptions<Accepted> {
  /** The server uses the first callback URL that can be bound; port 0 means any free port. */
  readonly callbackUrls: readonly string[];
  readonly flow: 'code' | 'implicit';
  /** Origin of the authorization server. */
  readonly authorizationOrigin: string;
  readonly validate: AuthorizationResponseValidator<Accepted>;
  /** Creates the authorization URL for the redirect URI, which is known only after the port was bound. */
  readonly authorizationUrl: (callbackUrl: string) => string;
  /** Called once with the accepted response; the browser tab shows the result as the outcome. */
  readonly finish: (accepted: Accepted) => Promise<BrowserTabResponse>;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
  /** Where the server listens (default: at the address of the callback URL). */
  readonly listenAddress?: CallbackListenAddress | undefined;
  readonly onRefusedPeer?: RefusedPeerCallback | undefined;
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
  /**
   * Settles when a response was accepted, which is before `finish` has ended. The promise stays pending when the server is
   * closed before a response is accepted.
   */
  readonly taken: Promise<Accepted>;
  /** Settles with the result of the function `finish`. */
  readonly finished: Promise<BrowserTabResponse>;
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
export async function startLoopbackServer<Accepted>(
  options: LoopbackOptions<Accepted>,
): Promise<LoopbackServer<Accepted>> {
  const { callback, servers, open } = await bindFirstAvailableCallbackUrl(
    options.callbackUrls.map(parseConfiguredCallbackUrl),
    options.listenAddress,
  );
  const sockets = createSocketLimiter(socketLimit, options.clock.now);
  const login = createLoginStateMachine({
    finish: options.finish,
    clock: options.clock,
    release: async () => {
      const done = servers.map(closeLoopbackListener);
      sockets.destroyAll();
      await Promise.all(done);
    },
  });
  const helper: ServerContext<Accepted> = {
    login,
    sockets,
    expected: loginExpectations(options, callback),
    authorizationUrl: options.authorizationUrl(callback.href),
    onRefusedPeer: options.onRefusedPeer,
    onOversizedRequest: options.onOversizedRequest,
  };
  const acceptPeer = (address: string | undefined): boolean => {
    const isAllowed = helper.expected.isAllowedPeer(address);
    if (!isAllowed && address !== undefined) options.onRefusedPeer?.(address, 'address');
    return isAllowed;
  };
  for (const server of servers) {
    attachSecuredRequestListener(
      server,
      { sockets, acceptPeer, onOversizedHeaders: () => options.onOversizedRequest?.('headers') },
      (message, response) => void respond(helper, message, response, readRequest(message)),
    );
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

interface ServerContext<Accepted> {
  readonly login: LoginStateMachine<Accepted>;
  readonly sockets: SocketLimiter;
  readonly expected: LoopbackRequestExpectations<Accepted>;
  readonly authorizationUrl: string;
  readonly onRefusedPeer: LoopbackOptions<Accepted>['onRefusedPeer'];
  readonly onOversizedRequest: LoopbackOptions<Accepted>['onOversizedRequest'];
}

/** The maximum number of open sockets: more than a browser needs, but few enough to limit the memory. */
const socketLimit = 64;

function loginExpectations<Accepted>(
  options: LoopbackOptions<Accepted>,
  callback: LoopbackCallbackUrl,
): LoopbackRequestExpectations<Accepted> {
  const word = () => Buffer.from(options.random(32)).toString('base64url');
  const allowedPeers = options.listenAddress?.allowedPeers;
  return {
    isAllowedPeer: (address) =>
      allowedPeers === undefined ? isLoopbackPeer(address) : isPeerInAllowedNetworks(address, allowedPeers),
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
    },
  };
}

function readRequest(message: IncomingMessage): LoopbackHttpRequest {
  return {
    peerAddress: message.socket.remoteAddress,
    isOtherUser: isTcpPeerOfOtherUser(message.socket),
    method: message.method ?? '',
    rawTarget: message.url ?? '',
    rawHeaders: message.rawHeaders,
  };
}

async function respond<Accepted>(
  helper: ServerContext<Accepted>,
  message: IncomingMessage,
  response: ServerResponse,
  request: LoopbackHttpRequest,
): Promise<void> {
  const { expected, login } = helper;
  const phase = login.phase();
  const decision = decideLoopbackRequest(expected, phase, request);
  // The rule for users precedes all others but that for addresses, which the connection has passed.
  if (request.isOtherUser === true && phase.kind === 'armed') helper.onRefusedPeer?.(request.peerAddress ?? '', 'user');
  switch (decision.kind) {
    case 'refuse':
      if (decision.reason === 'body_too_large') helper.onOversizedRequest?.('body');
      return sendResponse(response, buildLoopbackRefusalResponse(decision));
    case 'read_body': {
      const body = await readLoopbackRequestBody(message, maxLoopbackRequestBodyBytes);
      return body && respond(helper, message, response, { ...request, body });
    }
    case 'start':
      login.markStarted();
      return sendResponse(response, buildLoopbackRedirectResponse(helper.authorizationUrl));
    case 'start_again':
      login.fail(startedTwiceError());
      return sendResponse(response, buildLoopbackRefusalResponse(buildLoopbackRefusal('already_started')));
    case 'bridge':
      return sendResponse(
        response,
        buildLoopbackPageResponse(renderImplicitFlowBridgePage(expected.paths.relay, expected.nonce)),
      );
    case 'taken':
      login.take(decision.accepted, 'tab');
      return sendResponse(
        response,
        decision.place === 'query'
          ? buildLoopbackRedirectResponse(expected.paths.done)
          : buildLoopbackJsonResponse({ next: expected.paths.done }),
      );
    case 'done':
      return respondWithOutcome(helper, response);
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
  { login, sockets }: ServerContext<Accepted>,
  response: ServerResponse,
): Promise<void> {
  const leave = login.tabWaits();
  response.once('close', () => leave(response.writableFinished));
  if (response.socket !== null) {
    sockets.markPending(response.socket);
  }
  const outcome = await login.outcome();
  sendResponse(
    response,
    outcome.kind === 'continue'
      ? buildLoopbackRedirectResponse(outcome.url)
      : buildLoopbackPageResponse(renderLoginOutcomePage(outcome)),
  );
}

function sendResponse(response: ServerResponse, { status, headers, body }: LoopbackHttpResponse): void {
  if (!response.destroyed) {
    response.writeHead(status, headers).end(body);
  }
}
