import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { head, hear, type RawAnswer } from '../auth/loopback/raw-client.ts';
import { freePorts } from '../e2e/login/ports.ts';
import { type Ran, type Running, type RunOptions, run, start } from '../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../fixtures/folders.ts';
import { authorizationUrl } from '../fixtures/login.ts';
import { type Authority, accessToken, clientSecret, code, refreshToken } from './authority.ts';

/** Milliseconds a login may last: the long fuzz takes a minute. */
const patience = 240_000;

/** A person's computer with the built program on it; whatever was printed is searched for secrets when the test ends. */
export interface VictimMachine {
  readonly folders: Folders;
  readonly callbackUrl: string;
  readonly options: RunOptions;
  run(words: readonly string[], env?: Environment): Promise<Ran>;
  /** `auth login` that waits for its redirect. */
  login(words?: readonly string[], env?: Environment): Promise<Victim>;
}

/** A login in waiting, seen by an attacker who knows everything but its state. */
export interface Victim {
  readonly running: Running;
  readonly authorizationUrl: URL;
  readonly port: number;
  /** H: what a browser writes into the Host header. */
  readonly host: string;
  readonly state: string;
  /** The target of the genuine redirect. */
  readonly genuine: string;
  /** Bytes as they are on a connection of their own; resolves with what came back until the end. */
  raw(bytes: string | Buffer, address?: string): Promise<RawAnswer>;
  /** GET with the right Host and whatever headers. */
  get(target: string, ...headers: readonly string[]): Promise<RawAnswer>;
  /** The genuine redirect and the page behind it; the login must be untouched by all that was sent before. */
  completes(): Promise<Ran>;
}

export async function startVictimMachine(
  authority: Authority,
  more: Environment = {},
  host = '127.0.0.1',
): Promise<VictimMachine> {
  const folders = makeFolders();
  const [port] = await freePorts(1);
  const callbackUrl = `http://${host}:${port}/callback`;
  const env: Environment = {
    CLOUDCTL_AUTH_URL: authority.origin,
    CLOUDCTL_BASE_URL: authority.origin,
    CLOUDCTL_CLIENT_ID: 'attacked',
    CLOUDCTL_CLIENT_SECRET: clientSecret,
    CLOUDCTL_CALLBACK_URL: callbackUrl,
    CLOUDCTL_CREDENTIAL_STORE: 'file',
    ...more,
  };
  const printed: (() => { readonly stdout: string; readonly stderr: string })[] = [];
  const started: Running[] = [];
  onTestFinished(() => {
    for (const running of started) running.kill('SIGKILL');
    folders.remove();
    const text = printed.map((of) => of().stdout + of().stderr).join('\n');
    for (const secret of [clientSecret, accessToken, refreshToken, code]) expect(text).not.toContain(secret);
  });
  const options: RunOptions = { folders, env };
  return {
    folders,
    callbackUrl,
    options,
    run: (words, extra = {}) => run(words, { ...options, env: { ...env, ...extra } }),
    login: async (words = [], extra = {}) => {
      const running = start(['auth', 'login', '--no-browser', ...words], {
        limit: patience,
        ...options,
        env: { ...env, ...extra },
      });
      started.push(running);
      printed.push(running.printed);
      const [address] = await running.waitFor('stderr', authorizationUrl, 15_000);
      return victimOf(running, new URL(address));
    },
  };
}

function victimOf(running: Running, url: URL): Victim {
  const redirectUri = new URL(url.searchParams.get('redirect_uri') ?? '');
  const port = Number(redirectUri.port);
  const { host, hostname } = redirectUri;
  const state = url.searchParams.get('state') ?? '';
  const genuine = `${redirectUri.pathname}?code=${code}&state=${state}`;
  const address = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/[[\]]/g, '');
  const raw: Victim['raw'] = (bytes, at = address) => exchange(port, at, bytes);
  const get: Victim['get'] = (target, ...headers) => raw(head('GET', target, `Host: ${host}`, ...headers));
  return {
    running,
    authorizationUrl: url,
    port,
    host,
    state,
    genuine,
    raw,
    get,
    completes: async () => {
      const redirect = await get(genuine, ...navigation);
      expect(redirect.status).toBe(303);
      const page = await get(redirect.headers.get('location') ?? '', ...navigation);
      expect(page.body).toContain('You are signed in');
      running.child.stdin?.end();
      const ran = await running.ended;
      expect(ran).toMatchObject({ code: 0 });
      return ran;
    },
  };
}

/** What a browser sends with a redirect from another site. */
export const navigation: readonly string[] = [
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-User: ?1',
  'Sec-Fetch-Dest: document',
];

/** Bytes as they are on a connection of their own; what came back until its end, 15 s at most. */
export function exchange(port: number, host: string, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect({ port, host });
  const limit = setTimeout(() => socket.destroy(), 15_000);
  const heard = hear(socket);
  socket.write(bytes);
  return heard.finally(() => clearTimeout(limit));
}
