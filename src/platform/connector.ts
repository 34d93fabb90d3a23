import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { ProcessEnvironment } from './host.ts';
import { SendError } from './http-sender.ts';
import { networkSendError, tlsSendError } from './network-errors.ts';
import { type HttpProxy, percentEncode, proxyFor } from './proxy.ts';
import { type Trust, trustOf } from './trust.ts';

interface HttpServerAddress {
  readonly protocol: string;
  /** A host name or an IP address; an IPv6 address with or without brackets. */
  readonly hostname: string;
  /** The port of the URL; empty for the default port of the protocol. */
  readonly port: string;
}

interface HttpConnector {
  /** Opens one connection within one time limit; through a proxy it sends one CONNECT request. */
  connect(target: HttpServerAddress): Promise<Socket>;
  /** Ends all connection attempts that are in progress. */
  abandon(): void;
}

interface HttpConnectorOptions {
  readonly proxyFor: (url: URL) => HttpProxy | undefined;
  /** Time limit for establishing a connection including CONNECT and TLS handshake, in milliseconds. */
  readonly limit: number;
  readonly trust: Trust;
}

/** This connector replaces undici's ProxyAgent (docs/decisions/002-bundle-and-dependencies.md). */
export function createConnector(options: HttpConnectorOptions): HttpConnector {
  const attempts = new Set<AbortController>();
  return {
    async connect(target) {
      const attempt = new AbortController();
      attempts.add(attempt);
      // The connect timeout of undici is imprecise, so the connector uses its own timer.
      const late = new SendError(
        'timeout',
        false,
        `could not connect to ${targetName(target)}: no answer within ${options.limit / 1000} s`,
      );
      const timer = setTimeout(() => attempt.abort(late), options.limit);
      try {
        return await connectTo(target, options, attempt.signal);
      } finally {
        clearTimeout(timer);
        attempts.delete(attempt);
      }
    },
    abandon() {
      for (const attempt of attempts)
        attempt.abort(new SendError('aborted', false, 'the connection attempt was cancelled'));
    },
  };
}

/**
 * Opens a connection to the origin of the URL, through a proxy if one is configured, and closes it. Throws a SendError if the
 * connection fails. @param limit milliseconds
 */
export async function probeOrigin(url: string, env: ProcessEnvironment, limit: number): Promise<void> {
  const trust = trustOf(env);
  const target = new URL(url);
  requireUsable(target, env, trust);
  const connector = createConnector({ proxyFor: (of) => proxyFor(of, env), trust, limit });
  const socket = await connector.connect(target);
  socket.destroy();
}

/** Throws `config_invalid` for a proxy or a file of CA certificates that cannot be used, which is not a network failure. */
export function requireUsable(target: URL, env: ProcessEnvironment, trust: Trust): void {
  const proxy = proxyFor(target, env);
  if (target.protocol === 'https:' || proxy?.secure === true) trust.named();
}

/**
 * Connects again with more CA certificates while the issuer of a certificate is unknown. That repeats nothing but the handshake:
 * a request is sent only on a connection that was established.
 */
async function connectTo(
  target: HttpServerAddress,
  options: HttpConnectorOptions,
  signal: AbortSignal,
): Promise<Socket> {
  let failure: SendError | undefined;
  for (const context of options.trust.contexts()) {
    try {
      return await connectTrusting(context, target, options, signal);
    } catch (error) {
      if (!(error instanceof SendError) || !error.unknownIssuer) throw error;
      failure = error;
    }
  }
  if (failure === undefined) throw new Error('a trust has at least one context');
  const named = options.trust.named();
  const tried = named === undefined ? '' : `, and no CA of ${named.source} did`;
  throw new SendError('tls', false, `${failure.message}${tried}`, failure);
}

async function connectTrusting(
  context: SecureContext | undefined,
  target: HttpServerAddress,
  options: HttpConnectorOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const proxy = options.proxyFor(new URL(`${target.protocol}//${authorityOf(target)}`));
  const place = { host: target.hostname, port: portOf(target) };
  const socket =
    proxy === undefined ? await tcp(place, targetName(target), signal) : await tunnel(proxy, target, context, signal);
  return target.protocol === 'https:' ? tls(socket, target.hostname, targetName(target), context, signal) : socket;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

function tcp({ host, port }: HostAndPort, name: string, signal: AbortSignal): Promise<Socket> {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: 60_000 };
  const socket = connectTcp({ host: withoutBrackets(host), port, noDelay: true, ...keepAlive });
  return waitForSocket(socket, 'connect', signal, (error) => networkSendError(error, `could not connect to ${name}`));
}

function tls(
  raw: Socket,
  hostname: string,
  name: string,
  context: SecureContext | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const host = withoutBrackets(hostname);
  const socket = connectTls({
    socket: raw,
    host,
    // An IP address is not allowed as a server name (RFC 6066 §3).
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    // rejectUnauthorized is set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
    ...(context === undefined ? {} : { secureContext: context }),
  });
  return waitForSocket(socket, 'secureConnect', signal, (error) => tlsSendError(error, `could not connect to ${name}`));
}

/** Opens a tunnel through the proxy with CONNECT (RFC 9110 §9.3.6). The certificate of a proxy with an https URL is verified too. */
async function tunnel(
  proxy: HttpProxy,
  target: HttpServerAddress,
  context: SecureContext | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const { request, STATUS_CODES } = await import('node:http');
  const socket = await dialProxy(proxy, context, signal);
  const authority = authorityOf(target, portOf(target));
  return new Promise((resolve, reject) => {
    const connectRequest = request({
      method: 'CONNECT',
      path: authority,
      signal,
      createConnection: () => socket,
      headers: {
        host: authority,
        ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
      },
    });
    const refuse = (reason: string, hint?: string) => {
      socket.destroy();
      const failure = new SendError('connection', false, `the proxy ${proxy.displayUrl} ${reason}`, {
        atProxy: true,
        hint,
      });
      reject(signal.aborted ? signal.reason : failure);
    };
    connectRequest.once('connect', ({ statusCode = 0, headers }, tunnelled, head) => {
      if (statusCode < 200 || statusCode > 299) {
        // The words of the proxy are not printed, because they may repeat the credentials.
        const refusal = `refused ${authority}: ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
        if (statusCode !== 407) return refuse(refusal);
        const { why, hint } = missingCredentials(proxy, headers['proxy-authenticate'] ?? '');
        return refuse(`${refusal}: ${why}`, hint);
      }
      if (head.length > 0) tunnelled.unshift(head);
      // After CONNECT, the tunnelled data flows through the same socket.
      resolve(socket);
    });
    connectRequest.once('response', ({ statusCode }) => refuse(`did not open a tunnel: ${statusCode}`));
    connectRequest.on('error', () => refuse(`closed the connection instead of opening a tunnel to ${authority}`));
    connectRequest.end();
  });
}

/** Why a proxy demands credentials (RFC 9110 §11.7.1), without any text of its own. */
function missingCredentials(
  { variable, displayUrl, authorization }: HttpProxy,
  challenges: string,
): { readonly why: string; readonly hint: string } {
  const offered = challenges.replace(/"(?:[^"\\]|\\.)*"/g, '').split(',');
  const schemes = ['Basic', 'Digest', 'Negotiate', 'NTLM', 'Kerberos', 'Bearer'].filter((scheme) =>
    offered.some((challenge) => challenge.trim().split(/\s/)[0]?.toLowerCase() === scheme.toLowerCase()),
  );
  if (schemes.length > 0 && !schemes.includes('Basic'))
    return {
      why: `it asks for ${schemes.join(' or ')}, and only Basic is supported`,
      hint: `run a proxy on this machine that logs in there, such as cntlm, and set ${variable} to its URL`,
    };
  if (authorization !== undefined)
    return {
      why: `it does not accept the credentials in ${variable}`,
      hint: `check the user name and the password in ${variable}; ${percentEncode}`,
    };
  const origin = displayUrl.replace('://', '://USER:PASSWORD@');
  return {
    why: `${variable} has no credentials`,
    hint: `set ${variable} to ${origin}; ${percentEncode}`,
  };
}

async function dialProxy(proxy: HttpProxy, context: SecureContext | undefined, signal: AbortSignal): Promise<Socket> {
  const name = `the proxy ${proxy.displayUrl}`;
  try {
    const socket = await tcp({ host: proxy.hostname, port: proxy.port }, name, signal);
    return proxy.secure ? await tls(socket, proxy.hostname, name, context, signal) : socket;
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    throw new SendError(error.kind, error.sent, error.message, { ...error, atProxy: true });
  }
}

/** Waits for an event of the socket; closes the socket if an error or the abort signal comes first. */
function waitForSocket(
  socket: Socket,
  event: string,
  signal: AbortSignal,
  failure: (error: Error) => SendError,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      socket.off(event, onEvent);
      socket.off('error', onError);
      socket.off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const fail = (reason: unknown) =>
      end(() => {
        socket.on('error', () => {});
        socket.destroy();
        reject(reason);
      });
    const onEvent = () => end(() => resolve(socket));
    const onError = (error: Error) => fail(failure(error));
    const onClose = () => fail(failure(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    const onAbort = () => fail(signal.reason);
    socket.on(event, onEvent);
    socket.on('error', onError);
    socket.on('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function portOf({ protocol, port }: HttpServerAddress): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function authorityOf({ hostname, port }: HttpServerAddress, shown: string | number = port): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return shown === '' ? host : `${host}:${shown}`;
}

/** The hostname of a URL has brackets around an IPv6 address; a socket takes the address itself. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function targetName(target: HttpServerAddress): string {
  return `${target.protocol}//${authorityOf(target)}`;
}
