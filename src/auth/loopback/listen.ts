import { createServer, type Server } from 'node:http';
import { CliError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { PeerNetwork } from './peers.ts';

/**
 * The listening servers of one callback URL, with the port that they are bound to. The servers refuse connections until `open`
 * is called.
 */
export interface Bound {
  readonly callback: CallbackUrl;
  readonly servers: readonly Server[];
  open(): void;
}

/** An address other than the host of the callback URL, to which a container or a port forwarder sends the redirect. */
export interface ListenAddress {
  /** An IP address. */
  readonly address: string;
  /** The port to listen on (default: the port of the callback URL). */
  readonly port?: number;
  /** Networks whose connections are accepted; absent: only connections from this machine are accepted. */
  readonly allowedPeers?: readonly PeerNetwork[];
}

/** Binds the first callback URL that can be bound. Throws `port_in_use` when no callback URL can be bound. */
export async function bindFirst(callbacks: readonly CallbackUrl[], listenAddress?: ListenAddress): Promise<Bound> {
  const failures: BindFailure[] = [];
  for (const callback of callbacks) {
    const bound = await bindCallback(callback, listenAddress);
    if (!('address' in bound)) {
      return bound;
    }
    failures.push(bound);
  }
  throw portInUseError(failures, listenAddress !== undefined);
}

interface BindFailure {
  readonly address: string;
  readonly port: number;
  readonly code: string;
}

async function bindCallback(
  callback: CallbackUrl,
  listenAddress: ListenAddress | undefined,
  triesLeft = 8,
): Promise<Bound | BindFailure> {
  const addresses = listenAddress === undefined ? callback.addresses : [listenAddress.address];
  const servers: Server[] = [];
  let bound = callback;
  for (const [index, address] of addresses.entries()) {
    const server = createServer(limits);
    server.on('connection', refuseEarly);
    const result = await listen(server, address, listenAddress?.port ?? bound.port);
    if (typeof result === 'number') {
      servers.push(server);
      bound = withPort(callback, result);
      continue;
    }
    // If this machine lacks the second address of `localhost`, continue; if another program listens on it, fail.
    if (index > 0 && missingAddressCodes.includes(result.code)) {
      continue;
    }
    await Promise.all(servers.map(closeServer));
    return callback.port === 0 && index > 0 && triesLeft > 1
      ? bindCallback(callback, listenAddress, triesLeft - 1)
      : result;
  }
  const open = () => {
    for (const server of servers) {
      server.off('connection', refuseEarly);
    }
  };
  return { callback: bound, servers, open };
}

const missingAddressCodes: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

// By default Node checks connection timeouts only every 30 s. Node's own 400 response for a missing Host header would lack the
// security headers.
const limits = {
  // A URL and the cookies of other servers on this host, as long as browsers send them.
  maxHeaderSize: 64 * 1024,
  headersTimeout: 1000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 250,
  requireHostHeader: false,
} as const;

// A connection that arrives before the URL is printed cannot come from the browser, so it is refused.
function refuseEarly(socket: { destroy(): void }): void {
  socket.destroy();
}

function listen(server: Server, host: string, port: number): Promise<number | BindFailure> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException) => resolve({ address: host, port, code: error.code ?? error.name });
    server.once('error', onError);
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => {
      server.off('error', onError);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function portInUseError(failures: readonly BindFailure[], hasListenAddress: boolean): CliError {
  const ports = failures.map(({ port }) => port).join(', ');
  const [first] = failures;
  const message =
    failures.length === 1 && first !== undefined
      ? `could not listen on port ${ports}: it is ${bindFailureReason(first)}`
      : `could not listen on any of the ports ${ports}`;
  return new CliError('port_in_use', message, {
    detail:
      failures.length === 1
        ? undefined
        : failures
            .map((failure) => `${failure.address} port ${failure.port} is ${bindFailureReason(failure)}`)
            .join('; '),
    hint: hasListenAddress
      ? 'pass another address or port with `--callback-listen`'
      : 'register another callback URL, then run `cloudctl auth setup --callback-url http://127.0.0.1:PORT/callback`',
  });
}

function bindFailureReason({ code }: BindFailure): string {
  return reasons[code] ?? `refused by the operating system (${code})`;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'in use by another program',
  EACCES: 'reserved by the operating system',
  EADDRNOTAVAIL: 'on an address that this machine does not have',
  EAFNOSUPPORT: 'on an address that this machine does not have',
};

/** A callback URL that the loopback server can serve (RFC 8252 §7.3): http on a loopback address or `localhost`. */
export interface CallbackUrl {
  /** The callback URL exactly as it is sent in redirect_uri. */
  readonly href: string;
  /** Host and port as browsers send them in the Host header, without `:80`. */
  readonly host: string;
  /** Port 0 means any free port. */
  readonly port: number;
  /** The raw path of the callback URL, which a request must match byte by byte. */
  readonly path: string;
  /** The raw query of the callback URL itself, without `?`; usually empty. */
  readonly query: string;
  /** The IP addresses to bind; on some machines the second address does not exist. */
  readonly addresses: readonly [string, ...string[]];
}

/** Decodes a configured callback URL. Throws `config_invalid` for a callback URL that does not point to this machine. */
export function parseCallback(written: string): CallbackUrl {
  const parts = /^http:\/\/(127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?(\/[^?#]*)?(?:\?([^#]*))?$/.exec(
    written,
  );
  if (parts === null || !URL.canParse(written)) {
    throw invalidCallbackError(written, 'not an http URL of the loopback interface');
  }
  const [, name = '', path = '/', query = ''] = parts;
  const url = new URL(written);
  // A browser requests the normalized URL, so a callback URL in another spelling would never match byte by byte.
  if (url.hostname !== name || url.pathname !== path || url.search.slice(1) !== query) {
    throw invalidCallbackError(written, `not in the form that browsers send: ${url.href}`);
  }
  const addresses = addressesOf(name);
  return { href: written, host: url.host, port: url.port === '' ? 80 : Number(url.port), path, query, addresses };
}

/** The callback URL with the bound port in place of port 0. */
export function withPort(callback: CallbackUrl, port: number): CallbackUrl {
  if (callback.port !== 0) {
    return callback;
  }
  const host = callback.host.replace(/:0$/, `:${port}`);
  return { ...callback, port, host, href: callback.href.replace(/:0+(?=[/?]|$)/, `:${port}`) };
}

function addressesOf(name: string): CallbackUrl['addresses'] {
  if (name === 'localhost') {
    return ['127.0.0.1', '::1'];
  }
  return name === '[::1]' ? ['::1'] : [name];
}

function invalidCallbackError(written: string, reason: string): CliError {
  return new CliError('config_invalid', `callback URL ${sanitizeLine(written)} is ${sanitizeLine(reason)}`, {
    hint: 'run `cloudctl auth setup --callback-url http://127.0.0.1:8765/callback`',
  });
}
