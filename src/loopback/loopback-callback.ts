import { CliError } from '../errors.ts';

/** A callback URL the helper can serve (RFC 8252 §7.3): http on a literal loopback address or `localhost`. */
export interface LoopbackCallback {
  /** Exactly what is sent as redirect_uri. */
  readonly href: string;
  /** H of the rules: the authority as a browser writes it into the Host header, without `:80`. */
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The raw path a request must name, byte for byte. */
  readonly path: string;
  /** The raw query of its own, without the question mark; empty when there is none. */
  readonly query: string;
  /** Literal addresses to listen on; the second may be missing on a machine without it. */
  readonly addresses: readonly [string, ...string[]];
}

/** Decodes a configured callback URL. CliError `config_invalid` for one no browser could bring back to this machine. */
export function parseLoopbackCallback(written: string): LoopbackCallback {
  const parts = /^http:\/\/(127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?(\/[^?#]*)?(?:\?([^#]*))?$/.exec(
    written,
  );
  if (parts === null || !URL.canParse(written)) {
    throw invalidCallbackError(written, 'not an http address of the loopback interface');
  }
  const [, name = '', path = '/', query = ''] = parts;
  const url = new URL(written);
  // A browser asks for the folded form, so one that folds would never match byte for byte.
  if (url.hostname !== name || url.pathname !== path || url.search.slice(1) !== query) {
    throw invalidCallbackError(written, `sent by browsers as ${url.href}`);
  }
  const addresses = addressesOf(name);
  return { href: written, host: url.host, port: url.port === '' ? 80 : Number(url.port), path, query, addresses };
}

/** The same callback URL on the port that was bound: port 0 becomes the number the system gave. */
export function callbackOnPort(callback: LoopbackCallback, port: number): LoopbackCallback {
  if (callback.port !== 0) {
    return callback;
  }
  const host = callback.host.replace(/:0$/, `:${port}`);
  return { ...callback, port, host, href: callback.href.replace(/:0+(?=[/?]|$)/, `:${port}`) };
}

function addressesOf(name: string): LoopbackCallback['addresses'] {
  if (name === 'localhost') {
    return ['127.0.0.1', '::1'];
  }
  return name === '[::1]' ? ['::1'] : [name];
}

function invalidCallbackError(written: string, reason: string): CliError {
  return new CliError('config_invalid', `callback URL ${written} is ${reason}`, {
    hint: 'cloudctl auth setup --callback-url http://127.0.0.1:8765/callback',
  });
}
