import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { command, type Ran, run, start, startProgram } from '../fixtures/cli.ts';
import { reply } from '../fixtures/fake-server.ts';
import { type Environment, makeFolders } from '../fixtures/folders.ts';
import { type Certificates, makeCertificates } from '../platform/certificates.ts';
import { applicationEnvironment, loggedInEnvironment, redirectWith } from './bad-input/login-environment.ts';

/** The servers have a certificate of an authority that nothing on this machine knows, as behind the proxy of a company. */
const folders = makeFolders();
const at = (name: string): string => join(folders.work, name);
const servers: Server[] = [];
const seen: string[] = [];
const tunnels: string[] = [];
let certificates: Certificates;
let origin = '';
let plain = '';
let proxies: Readonly<Record<'http' | 'https' | 'refusing', string>>;

const grant = {
  access_token: 'trusted-access-token-0000000000000001',
  token_type: 'bearer',
  expires_in: 2_592_000,
  refresh_token: 'trusted-refresh-token-000000000000001',
  scope: 'read write',
  info: { name: 'Sammy Shark', email: 'sammy@example.com', uuid: '1b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e' },
};
const droplet = { id: 7, name: 'web-1', status: 'new', networks: { v4: [], v6: [] } };

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening<S extends Server>(server: S): Promise<S> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeAll(async () => {
  certificates = makeCertificates();
  const { ca, key, cert } = certificates;
  writeFileSync(at('ca.pem'), ca);
  const answer: Parameters<typeof createHttp>[1] = (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    seen.push(`${request.method} ${pathname}`);
    if (pathname === '/v1/oauth/token') reply(response, 200, grant);
    else if (request.method === 'POST')
      reply(response, 202, { droplet, links: { actions: [{ id: 1, rel: 'create' }] } });
    else reply(response, 200, { actions: [], droplets: [], links: {}, meta: { total: 0 } });
  };
  const api = await listening(createHttps({ key, cert }, answer));
  origin = `https://localhost:${portOf(api)}`;
  plain = `http://127.0.0.1:${portOf(await listening(createHttp(answer)))}`;
  const tunnel = (request: { url?: string }, client: Socket): void => {
    tunnels.push(request.url ?? '');
    client.on('error', () => {});
    const upstream = connect(portOf(api), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.on('error', () => client.destroy());
    upstream.pipe(client).pipe(upstream);
  };
  const refuse = (_: unknown, client: Socket): void => {
    client.on('error', () => {});
    tunnels.push('refused');
    client.end('HTTP/1.1 407 no us er:p@ss#w:rd\r\nProxy-Authenticate: Basic realm="p@ss"\r\n\r\n');
  };
  const http = await listening(createHttp().on('connect', tunnel));
  const https = await listening(createHttps({ key, cert }).on('connect', tunnel));
  const refusing = await listening(createHttp().on('connect', refuse));
  proxies = {
    http: `127.0.0.1:${portOf(http)}`,
    https: `localhost:${portOf(https)}`,
    refusing: `127.0.0.1:${portOf(refusing)}`,
  };
});
afterAll(() => {
  for (const server of servers) server.close();
  folders.remove();
});
beforeEach(() => {
  seen.length = 0;
  tunnels.length = 0;
});

const token = (base = origin): Environment => ({
  CLOUDCTL_ACCESS_TOKEN: grant.access_token,
  CLOUDCTL_BASE_URL: base,
});
const named = (): Environment => ({ SSL_CERT_FILE: at('ca.pem') });
const list = (env: Environment): Promise<Ran> => run(['actions', 'list'], { folders, env });

describe('a certificate that Node.js does not trust', () => {
  test('is an error whose hint works with either variable', async () => {
    const failed = await list(token());
    expect(failed).toMatchObject({ code: 6, stderr: expect.stringContaining('trusted') });
    expect(seen).toEqual([]);
    const variables = /SSL_CERT_FILE|NODE_EXTRA_CA_CERTS/g;
    const hint = failed.stderr.split('\n').find((line) => line.startsWith('hint: ')) ?? '';
    expect(hint.match(variables)).toEqual(['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS']);
    for (const variable of hint.match(variables) ?? [])
      expect(await list({ ...token(), [variable]: at('ca.pem') })).toMatchObject({ code: 0 });
  });

  test('of both servers is trusted by a refresh, which sends its token once', async () => {
    const env = { ...loggedInEnvironment({ auth: origin, base: origin })(folders), ...named() };
    const ran = await run(['auth', 'refresh'], { folders, env });
    expect(ran).toMatchObject({ code: 0 });
    expect(seen.filter((line) => line.startsWith('POST'))).toEqual(['POST /v1/oauth/token']);
  });

  test('leaves the refresh token unused, so that the next refresh works', async () => {
    const env = loggedInEnvironment({ auth: origin, base: origin })(folders);
    expect(await run(['auth', 'refresh'], { folders, env })).toMatchObject({ code: 6 });
    expect(seen).toEqual([]);
    expect(await run(['auth', 'refresh'], { folders, env: { ...env, ...named() } })).toMatchObject({ code: 0 });
  });

  test('is trusted by a login, which exchanges its code once', async () => {
    const env = { ...applicationEnvironment({ auth: origin, base: origin }), ...named() };
    const running = start(['auth', 'login', '--no-browser'], { folders, env });
    await redirectWith({ code: 'a-code', state: 'STATE' })(running);
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(seen.filter((line) => line.startsWith('POST'))).toEqual(['POST /v1/oauth/token']);
  });

  test('is trusted by a creation, which is sent once', async () => {
    const words = [
      'droplets',
      'create',
      'web-1',
      '--size',
      's-1vcpu-1gb',
      '--image',
      'debian-12-x64',
      '--region',
      'nyc3',
    ];
    const ran = await run(words, { folders, env: { ...token(), ...named() } });
    expect(ran).toMatchObject({ code: 0 });
    expect(seen.filter((line) => line.startsWith('POST'))).toEqual(['POST /v2/droplets']);
  });

  test.each(['http', 'https'] as const)('is trusted through a proxy with an %s URL', async (scheme) => {
    const env = { ...token('https://api.example.test'), HTTPS_PROXY: `${scheme}://CORP\\user:pw@${proxies[scheme]}` };
    expect(await list(env)).toMatchObject({ code: 6, stderr: expect.stringContaining('SSL_CERT_FILE') });
    expect(seen).toEqual([]);
    expect(await list({ ...env, ...named() })).toMatchObject({ code: 0 });
    expect(seen).toEqual(['GET /v2/actions']);
  });

  test('is shown by doctor with the file that is trusted', async () => {
    const env = { ...loggedInEnvironment({ auth: origin, base: origin })(folders), ...named() };
    const { findings } = (await run(['doctor', '-o', 'json'], { folders, env })).json<Report>();
    expect(statusOf(findings, 'base-url')).toBe('ok');
    expect(findings.find(({ id }) => id === 'certificates')).toMatchObject({
      status: 'ok',
      observed: expect.stringContaining(`SSL_CERT_FILE=${at('ca.pem')}`),
    });
  });
});

interface Report {
  readonly findings: readonly { readonly id: string; readonly status: string; readonly observed: string }[];
}

const statusOf = (findings: Report['findings'], wanted: string): string | undefined =>
  findings.find(({ id }) => id === wanted)?.status;

const bundle = '/etc/ssl/certs/ca-certificates.crt';
const canMount = process.getuid?.() === 0 && existsSync(bundle);

describe.skipIf(!canMount)('after update-ca-certificates', () => {
  test('the authority is trusted without any variable, and doctor names the file', async () => {
    execFileSync('sh', ['-c', `cat '${bundle}' '${at('ca.pem')}' >'${at('bundle.pem')}'`]);
    const env = { ...loggedInEnvironment({ auth: origin, base: origin })(folders) };
    const inside = (...words: string[]): Promise<Ran> => {
      const script = `mount --bind '${at('bundle.pem')}' ${bundle} && exec "$@"`;
      return startProgram('unshare', ['-m', 'sh', '-c', script, 'sh', ...command, ...words], { folders, env }).ended;
    };
    expect(await inside('actions', 'list')).toMatchObject({ code: 0 });
    const { findings } = (await inside('doctor', '-o', 'json')).json<Report>();
    expect(findings.find(({ id }) => id === 'certificates')?.observed).toContain(bundle);
  });
});

describe('SSL_CERT_FILE that cannot be used', () => {
  const unusable = (): readonly string[] => {
    writeFileSync(at('text'), 'hello\n');
    if (!existsSync(at('pipe'))) execFileSync('mkfifo', [at('pipe')]);
    return [at('missing'), at('text'), at('pipe'), folders.work];
  };

  test('is an error that names it, and nothing was sent', async () => {
    for (const path of unusable()) {
      const ran = await list({ ...token(), SSL_CERT_FILE: path });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(path) });
      expect(ran.stderr).toContain('SSL_CERT_FILE');
    }
    expect(seen).toEqual([]);
  });

  test('in DER form has a hint that works', async () => {
    execFileSync('openssl', ['x509', '-in', at('ca.pem'), '-outform', 'der', '-out', at('ca.der')]);
    const env = { ...token(), SSL_CERT_FILE: at('ca.der') };
    const { stderr } = await list(env);
    const commands = [...stderr.matchAll(/`([^`]+)`/g)].map(([, command]) => command);
    const script = [...commands, '"$@"'].join(' && ');
    const ran = startProgram('sh', ['-c', script, 'sh', ...command, 'actions', 'list'], { folders, env });
    expect(await ran.ended).toMatchObject({ code: 0 });
    expect(commands.length).toBe(2);
  });

  test('is not read for http', async () => {
    for (const path of unusable())
      expect(await list({ ...token(plain), SSL_CERT_FILE: path })).toMatchObject({ code: 0 });
  });

  test('is a finding of doctor, which does not end there', async () => {
    const env = { ...loggedInEnvironment({ auth: origin, base: origin })(folders), SSL_CERT_FILE: at('pipe') };
    const ran = await run(['doctor', '-o', 'json'], { folders, env });
    const { findings } = ran.json<Report>();
    expect(ran).toMatchObject({ code: 1, stderr: expect.not.stringContaining('error') });
    expect([statusOf(findings, 'certificates'), statusOf(findings, 'base-url')]).toEqual(['failed', 'skipped']);
  });
});

describe('the credentials of a proxy', () => {
  const fragments = /us er:|p@ss|\bss\b|w:rd|#w/;

  test.each([
    'actions list',
    '--trace actions list',
    'actions list -o json',
    'api GET /v2/actions',
    'auth refresh',
    'auth login --no-browser',
    'auth logout',
    'doctor',
    'doctor -o json',
  ])('that are not encoded are not shown by %s', async (line) => {
    const words = line.split(' ');
    const remote = 'https://api.example.test';
    for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
      const env = loggedInEnvironment({ auth: remote, base: remote })(folders);
      const proxy = 'http://us er:p@ss#w:rd@proxy:3128';
      const ran = await run(words, { folders, env: { ...env, [variable]: proxy } });
      expect(ran.code).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toMatch(fragments);
      expect(ran.stdout + ran.stderr).toMatch(new RegExp(`${variable} .*percent-encoded`));
    }
  });

  test('that are refused are explained by a proxy that repeats them, and sent once', async () => {
    const remote = 'https://api.example.test';
    const env = { ...token(remote), HTTPS_PROXY: `http://us%20er:p%40ss%23w:rd@${proxies.refusing}` };
    for (const words of [['actions', 'list'], ['doctor']]) {
      tunnels.length = 0;
      const ran = await run(words, { folders, env: { ...env, CLOUDCTL_AUTH_URL: undefined } });
      expect(ran.code).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toMatch(fragments);
      expect(ran.stdout + ran.stderr).toMatch(/407 .* HTTPS_PROXY/);
      expect(ran.stdout + ran.stderr).toContain('@ as %40');
      expect(tunnels).toEqual(['refused']);
    }
    const bare = await list({ ...token(remote), HTTPS_PROXY: `http://${proxies.refusing}` });
    expect(bare).toMatchObject({ code: 6, stderr: expect.stringContaining('USER:PASSWORD@') });
  });
});
