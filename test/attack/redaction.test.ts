import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { head } from '../auth/loopback/raw-client.ts';
import { type Ran, type Running, start } from '../fixtures/cli.ts';
import { closedOrigin, type ReceivedRequest, reply, serverFor } from '../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { authorizationUrl } from '../fixtures/login.ts';
import { argumentsOf, canariesIn, canary, filesBelow } from './canaries.ts';
import { exchange, navigation } from './victim.ts';

const secrets = {
  client_secret: canary('client'),
  code: canary('code'),
  access_token: canary('access'),
  refresh_token: canary('refresh'),
  database_password: canary('database'),
};
const callbackUrl = 'http://127.0.0.1:0/callback';

/** What goes wrong on the way, and what then answers a request: a handler, or an origin where nobody answers right. */
type Failure = Readonly<Record<'origin', () => Promise<string>>> | Readonly<Record<'answer', Answerer>>;
type Answerer = (seen: ReceivedRequest, response: Parameters<typeof reply>[0]) => void;

/** Everything a server knows of the request, thrown back at the client. */
const everything = ({ url, body, headers }: ReceivedRequest): string => `${url} ${body} ${JSON.stringify(headers)}`;

const silence: Failure = { answer: () => undefined };

const failures: Readonly<Record<string, Failure>> = {
  'a name that does not resolve': { origin: async () => 'https://nowhere.invalid' },
  'a connection that is refused': { origin: closedOrigin },
  'TLS spoken to by a plain server': {
    origin: async () => (await serverFor((_, response) => reply(response, 200))).origin.replace('http:', 'https:'),
  },
  'a connection that is cut': { origin: cutting },
  'a redirect': {
    answer: (seen, response) => reply(response, 307, everything(seen), { location: `https://evil.example${seen.url}` }),
  },
  'a 500 in HTML that repeats the request': {
    answer: (seen, response) =>
      reply(response, 500, `<html>${everything(seen)}</html>`, { 'content-type': 'text/html' }),
  },
  'bad JSON that repeats the request': {
    answer: (seen, response) => reply(response, 200, `{"oops": ${everything(seen)}`),
  },
  'an error whose description repeats the request': {
    answer: (seen, response) =>
      reply(response, 400, {
        error: 'invalid_request',
        error_description: everything(seen),
        id: 'bad',
        message: everything(seen),
      }),
  },
  'an error code that repeats the request': {
    answer: (seen, response) =>
      reply(response, 400, { error: everything(seen), error_description: 'x', id: everything(seen), message: 'x' }),
  },
  'a request id and headers that repeat the request': {
    answer: (seen, response) =>
      reply(response, 401, { id: 'unauthorized', message: 'x' }, { 'x-request-id': everything(seen) }),
  },
  'no answer in time': silence,
};

/**
 * What a server can do to text that a parser, a terminal or a reader undoes. The printed text is searched after the same: every
 * visible character of a secret in a row, whatever stood between them.
 */
const disguises: Readonly<Record<string, (text: string) => string>> = {
  'escapes of JSON': (text) => each(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'upper-case percent-encoding': (text) => each(text, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  'zero-width characters': (text) => each(text, (one) => `${one}\u200b\u200d`),
  'colours of a terminal': (text) => each(text, (one) => `${one}\u001b[31m`),
  'titles of a terminal': (text) => each(text, (one) => `${one}\u001b]0;x\u0007`),
  NUL: (text) => each(text, (one) => `${one}\0`),
  'soft hyphens and direction marks': (text) => each(text, (one) => `${one}\u00ad\u202e`),
  'combining marks': (text) => each(text, (one) => `${one}\u0301`),
  'C1 controls and halves of surrogate pairs': (text) => each(text, (one) => `${one}\u0085\ud800`),
  'CR and LF': (text) => each(text, (one) => `${one}\r\n`),
  'references of HTML': (text) => each(text, (one) => `&#${one.charCodeAt(0)};`),
  'text that is truncated in a secret': (text) => `${'x'.repeat(300 - text.length)}${text}`,
};

function each(text: string, write: (character: string) => string): string {
  return [...text].map(write).join('');
}

/** What the program has when the code is exchanged, and what it has later. */
const atExchange = ['client_secret', 'code'] as const;
const atApi = ['client_secret', 'access_token', 'refresh_token'] as const;
type SecretName = keyof typeof secrets;

function joined(names: readonly SecretName[], disguise: (text: string) => string): string {
  return names.map((name) => disguise(secrets[name])).join(' and ');
}

/** The visible characters of printed text, after everything that hides them is undone. */
function unveil(text: string): string {
  let shown = text;
  for (let round = 0; round < 4; round++)
    shown = shown
      .replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  return shown
    .replace(/\u001b\[[\d;]*m|\u001b\][^\u0007]*\u0007/g, '')
    .replace(/\\[nr\\/]/g, '')
    .replace(/[^!-~]/g, '');
}

async function cutting(): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

/** The grant of a good server, with the canaries in it. */
const grant = {
  access_token: secrets.access_token,
  token_type: 'bearer',
  expires_in: 2_592_000,
  refresh_token: secrets.refresh_token,
  scope: 'read write',
  info: { name: 'Sammy', email: 'sammy@example.com', uuid: '1b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e' },
};

interface Bench {
  readonly folders: Folders;
  readonly env: Readonly<Record<string, string>>;
  begin(words: readonly string[], more?: Readonly<Record<string, string>>): Running;
  logIn(words?: readonly string[], more?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Everything printed and every file that is not the store is searched. */
  search(): void;
}

/** One person; `fails` decides which requests of the good server go wrong. */
async function benchFor(failure: Failure, fails: (seen: ReceivedRequest) => boolean): Promise<Bench> {
  const broken = 'origin' in failure ? await failure.origin() : undefined;
  const server = await serverFor((seen, response) => {
    if ('answer' in failure && fails(seen)) return failure.answer(seen, response);
    return reply(
      response,
      200,
      seen.url.startsWith('/v1/oauth/token') ? grant : { actions: [], droplets: [], links: {}, meta: { total: 0 } },
    );
  });
  const folders = makeFolders();
  mkdirSync(folders.state, { recursive: true });
  mkdirSync(folders.config, { recursive: true });
  const env = {
    CLOUDCTL_AUTH_URL: server.origin,
    CLOUDCTL_BASE_URL: server.origin,
    CLOUDCTL_CLIENT_ID: 'redacted',
    CLOUDCTL_CLIENT_SECRET: secrets.client_secret,
    CLOUDCTL_CALLBACK_URL: callbackUrl,
    CLOUDCTL_CREDENTIAL_STORE: 'file',
    PGPASSWORD: secrets.database_password,
  };
  const started: Running[] = [];
  onTestFinished(() => {
    for (const running of started) running.kill('SIGKILL');
    folders.remove();
  });
  const begin: Bench['begin'] = (words, more = {}) => {
    const redirected =
      broken === undefined ? {} : { [fails.name === 'api' ? 'CLOUDCTL_BASE_URL' : 'CLOUDCTL_AUTH_URL']: broken };
    const running = start(words, { folders, env: { ...env, ...redirected, ...more } });
    started.push(running);
    return running;
  };
  return {
    folders,
    env,
    begin,
    logIn: async (words = [], more = {}) => {
      const running = begin(['auth', 'login', '--no-browser', '--scope', 'read write', ...words], more);
      const [printed] = await running.waitFor('stderr', authorizationUrl).catch(() => ['']);
      if (printed !== '') {
        const url = new URL(printed);
        const redirectUri = new URL(url.searchParams.get('redirect_uri') ?? '');
        const query = new URLSearchParams({ code: secrets.code, state: url.searchParams.get('state') ?? '' });
        const port = Number(redirectUri.port);
        const host = `Host: ${redirectUri.host}`;
        const answer = await exchange(port, '127.0.0.1', head('GET', `/callback?${query}`, host, ...navigation));
        // A server that never answers is left by the person.
        const leaving = setTimeout(
          () => running.kill('SIGINT'),
          failure === silence && fails === token ? 1000 : 20_000,
        );
        void running.ended.then(() => clearTimeout(leaving));
        expect(canariesIn(answer.text, secrets)).toEqual([]);
        expect(canariesIn(argumentsOf(folders.home), secrets)).toEqual([]);
        const page = await exchange(
          port,
          '127.0.0.1',
          head('GET', answer.headers.get('location') ?? '/', host, ...navigation),
        );
        expect(canariesIn(page.text, secrets)).toEqual([]);
      }
      return running.ended;
    },
    search: () => {
      for (const running of started) {
        const { stdout, stderr } = running.printed();
        expect(canariesIn(`${stdout}\n${stderr}`, secrets)).toEqual([]);
      }
      const files = filesBelow([folders.home], /\.credential\.json$|\.client\.json$/);
      for (const { path, text } of files)
        expect({ path, heard: canariesIn(text, secrets) }).toEqual({ path, heard: [] });
    },
  };
}

const token = ({ url }: ReceivedRequest): boolean => url.startsWith('/v1/oauth/');
const api = ({ url }: ReceivedRequest): boolean => url.startsWith('/v2/');
const nothing = (): boolean => false;

describe.each(Object.entries(failures))('no secret comes out when there is %s', (_, failure) => {
  const words = ['--trace', '-o', 'json', '--timeout', '1s'];

  test('at the exchange', async () => {
    const bench = await benchFor(failure, token);
    expect((await bench.logIn(words)).code).not.toBe(0);
    bench.search();
  });

  test('at a call of the resource API, and at a logout', async () => {
    const good = await benchFor(failure, api);
    const env = 'origin' in failure ? { CLOUDCTL_BASE_URL: good.env.CLOUDCTL_BASE_URL ?? '' } : {};
    expect((await good.logIn([], env)).code).toBe(0);
    const bearer = { CLOUDCTL_ACCESS_TOKEN: secrets.access_token };
    const commands = [
      ['actions', 'list'],
      ['droplets', 'create', 'a', '--size', 's', '--image', 'i'],
      ['api', 'POST', '/v2/droplets', '--data', '{}'],
    ];
    const called = commands.map(async (command) => {
      const ran = good.begin([...command, ...words], bearer);
      ran.child.stdin?.end();
      expect((await ran.ended).code).not.toBe(0);
    });
    await Promise.all(called);
    const out = good.begin(['auth', 'logout', ...words], env);
    out.child.stdin?.end();
    await out.ended;
    good.search();
  });
});

describe.each(Object.entries(disguises))('no secret comes out in %s', (_, disguise) => {
  /** Parts of a secret that are longer than what may remain before the end of truncated text. */
  const search = (ran: Ran, names: readonly SecretName[]): void => {
    const shown = unveil(`${ran.stdout}\n${ran.stderr}`);
    for (const name of names) {
      const word = secrets[name].replaceAll('+', '');
      const parts = Array.from({ length: word.length - 13 }, (_unused, at) => word.slice(at, at + 14));
      expect({ name, shown: parts.filter((part) => shown.includes(part)) }).toEqual({ name, shown: [] });
    }
  };
  const failing = (names: readonly SecretName[]): Failure => ({
    answer: (seen, response) => {
      const text = joined(names, disguise);
      if (seen.method === 'GET')
        return reply(response, 200, { droplets: [{ id: 1, name: text, status: text }], links: {}, meta: { total: 1 } });
      const id = encodeURIComponent(Buffer.from(text).toString()).slice(0, 8000);
      const body = { error: 'invalid_grant', error_description: text, id: 'bad', message: text };
      return reply(response, 400, body, { 'x-request-id': id });
    },
  });

  test.each([['table'], ['json']])('at the exchange, -o %s', async (format) => {
    const bench = await benchFor(failing(atExchange), token);
    search(await bench.logIn(['-o', format]), atExchange);
    bench.search();
  });

  test('in errors and data of the resource API, and in files', async () => {
    const bench = await benchFor(failing(atApi), api);
    expect((await bench.logIn()).code).toBe(0);
    const run = async (...words: readonly string[]): Promise<Ran> => {
      const running = bench.begin(words);
      running.child.stdin?.end();
      const ran = await running.ended;
      search(ran, atApi);
      return ran;
    };
    for (const format of ['table', 'json', 'ndjson', 'yaml', 'csv']) {
      const { code, stdout } = await run('droplets', 'list', '-o', format);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('[secret]') });
      if (format === 'json') expect(() => JSON.parse(stdout)).not.toThrow();
    }
    const created = await run('droplets', 'create', 'a', 'b', '--size', 's', '--image', 'i', '-o', 'json');
    expect(created.code).not.toBe(0);
    await run('api', 'POST', '/v2/droplets', '--data', '{}', '-o', 'json', '--trace');
    await run('api', 'GET', '/v2/droplets');
    bench.search();
  });

  test('at a refresh', async () => {
    const bench = await benchFor(failing(atApi), (seen) => seen.url.includes('grant_type=refresh_token'));
    expect((await bench.logIn()).code).toBe(0);
    const running = bench.begin(['auth', 'refresh', '-o', 'json']);
    running.child.stdin?.end();
    search(await running.ended, atApi);
    bench.search();
  });
});

test('`auth token` prints the token', async () => {
  const bench = await benchFor(silence, nothing);
  expect((await bench.logIn()).code).toBe(0);
  for (const words of [
    ['auth', 'token'],
    ['auth', 'token', '--trace'],
  ]) {
    const running = start(words, { folders: bench.folders, env: bench.env });
    running.child.stdin?.end();
    expect((await running.ended).stdout).toBe(`${secrets.access_token}\n`);
  }
});

describe('no secret comes out', () => {
  test('when NODE_DEBUG would print requests', async () => {
    const bench = await benchFor(silence, nothing);
    expect((await bench.logIn([], { NODE_DEBUG: 'http,net,undici' })).code).toBe(2);
    bench.search();
  });

  test('when a database cannot be entered', async () => {
    const bench = await benchFor(silence, nothing);
    const { port } = new URL(await closedOrigin());
    const source = [
      '--engine',
      'postgresql',
      '--host',
      '127.0.0.1',
      '--port',
      port,
      '--dbname',
      'x',
      '--username',
      'u',
    ];
    const running = bench.begin(['db', 'preflight', ...source, '--deadline', '5s', '-o', 'json']);
    running.child.stdin?.end();
    expect((await running.ended).code).toBe(3);
    bench.search();
  });

  test('when a damaged store is read', async () => {
    const bench = await benchFor(silence, nothing);
    expect((await bench.logIn()).code).toBe(0);
    writeFileSync(
      `${bench.folders.state}/sessions/default.credential.json`,
      `{"access_token":"${secrets.access_token}"`,
    );
    const running = bench.begin(['actions', 'list', '--trace']);
    running.child.stdin?.end();
    expect((await running.ended).code).toBe(4);
    bench.search();
  });
});
