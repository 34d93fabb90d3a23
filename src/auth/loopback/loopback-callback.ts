import { CliError } from '../../base/errors.ts';

/** A callback URL that the loopback server can serve (RFC 8252 §7.3): http on a loopback address or `localhost`. */
export interface LoopbackCallbackUrl {
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
export function parseConfiguredCallbackUrl(written: string): LoopbackCallbackUrl {
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
export function replaceCallbackPort(callback: LoopbackCallbackUrl, port: number): LoopbackCallbackUrl {
  if (callback.port !== 0) {
    return callback;
  }
  const host = callback.host.replace(/:0$/, `:${port}`);
  return { ...callback, port, host, href: callback.href.replace(/:0+(?=[/?]|$)/, `:${port}`) };
}

function addressesOf(name: string): LoopbackCallbackUrl['addresses'] {
  if (name === 'localhost') {
    return ['127.0.0.1', '::1'];
  }
  return name === '[::1]' ? ['::1'] : [name];
}

function invalidCallbackError(written: string, reason: string): CliError {
  return new CliError('config_invalid', `callback URL ${written} is ${reason}`, {
    hint: 'run `cloudctl auth setup --callback-url http://127.0.0.1:8765/callback`',
  });
}
