import { createServer } from 'node:http';
import { DifferenceError, NotTestableError } from './response.ts';

/** Lets a person open an authorization URL, and resolves with the parameters of the redirect to the callback URL. */
export type Visit = (visit: {
  readonly url: string;
  /** The `state` parameter of the authorization URL. */
  readonly state: string;
  /** Whether the person is asked to approve or to deny the authorization request. */
  readonly request: 'approve' | 'deny';
}) => Promise<Readonly<Record<string, string>>>;

export interface VisitOptions {
  readonly callbackUrl: string;
  /** The time limit of one visit, in milliseconds. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Shows the authorization URL to a person, with what to do there. */
  readonly show: (url: string, request: 'approve' | 'deny') => void;
}

/** Lets a person authorize in a browser, and receives each redirect on the callback URL of this machine. */
export function visitInBrowser({ callbackUrl, limitMs, signal, show }: VisitOptions): Visit {
  return async ({ url, state, request }) => {
    const listener = await listen(callbackUrl);
    const stop = (): void => listener.end(signal.reason);
    const timer = setTimeout(() => listener.end(new NotTestableError('no redirect was received in time')), limitMs);
    signal.addEventListener('abort', stop);
    try {
      show(url, request);
      const parameters = await listener.redirect;
      const received = `a redirect with ${Object.keys(parameters).join(', ')}`;
      if (parameters.state !== state)
        throw new DifferenceError('the same state', { sent: 'GET /v1/oauth/authorize in a browser', received });
      return parameters;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      listener.close();
    }
  };
}

/** Moves the fragment of the implicit flow, which a browser does not send (RFC 6749 §4.2.2), into the query. */
const fragmentPage = `<!doctype html><title>Redirect</title>
<script>if (location.hash.length > 1) location.replace(location.pathname + '?' + location.hash.slice(1))</script>`;
const lastPage = '<!doctype html><title>Received</title><p>The redirect was received. You can close this page.';

async function listen(callbackUrl: string): Promise<{
  readonly redirect: Promise<Readonly<Record<string, string>>>;
  end(reason: unknown): void;
  close(): void;
}> {
  const { hostname, port, pathname, origin } = new URL(callbackUrl);
  let take: (parameters: Readonly<Record<string, string>>) => void = () => undefined;
  let end: (reason: unknown) => void = () => undefined;
  const redirect = new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
    [take, end] = [resolve, reject];
  });
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? '/', origin);
    const parameters = Object.fromEntries(target.searchParams);
    const isRedirect = ['code', 'access_token', 'error'].some((name) => name in parameters);
    response.writeHead(target.pathname === pathname ? 200 : 404, {
      'content-type': 'text/html',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(isRedirect ? lastPage : fragmentPage, () => {
      if (isRedirect && target.pathname === pathname) take(parameters);
    });
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(Number(port) || 80, hostname.replace(/^\[|\]$/g, ''), done);
  });
  return { redirect, end, close: () => void server.close() };
}
