import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { createConnector, probeOrigin } from '../../src/platform/connector.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { Trust, trustOf } from '../../src/platform/trust.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { makeCertificates as makeOther } from '../fixtures/certificates.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type Certificates, makeCertificates } from './certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'cloudctl-trust-'));
const at = (name: string): string => join(folder, name);
let certificates: Certificates;
let other: string;

beforeAll(() => {
  certificates = makeCertificates();
  other = makeOther().ca;
  writeFileSync(at('ca.pem'), certificates.ca);
  writeFileSync(at('other.pem'), other);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Counted {
  readonly origin: string;
  connections: number;
  readonly requests: string[];
}

async function server(cert = certificates.cert): Promise<Counted> {
  const counted: Counted = { origin: '', connections: 0, requests: [] };
  const https = createServer({ key: certificates.key, cert }, (request, response) => {
    counted.requests.push(`${request.method} ${request.url}`);
    response.end('over TLS');
  });
  https.on('connection', () => {
    counted.connections += 1;
  });
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  onTestFinished(() => {
    https.closeAllConnections();
    https.close();
  });
  const { port } = https.address() as AddressInfo;
  return Object.assign(counted, { origin: `https://localhost:${port}` });
}

const post = () => ({ method: 'POST', headers: {}, redirect: 'manual', signal: AbortSignal.timeout(5000) }) as const;

async function ask({ origin }: Pick<Counted, 'origin'>, env: Record<string, string>, bundles: string[] = []) {
  const send = await undiciSender({ env, trust: new Trust(env, bundles), fresh: true });
  return (await send(`${origin}/v1/oauth/token`, post())).text();
}

async function failureOf(attempt: Promise<unknown>): Promise<CliError | SendError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CliError || error instanceof SendError) return error;
  throw new Error(`no error but ${String(error)}`);
}

describe('a certificate of an unknown issuer', () => {
  it('is accepted with the bundle of the system, and the request is sent once', async () => {
    const target = await server();
    expect(await ask(target, {}, [at('none.pem'), at('ca.pem'), at('other.pem')])).toBe('over TLS');
    expect(target).toMatchObject({ connections: 2, requests: ['POST /v1/oauth/token'] });
  });

  it('costs one handshake of a process: the next connection begins with what was found', async () => {
    const target = await server();
    const trust = new Trust({}, [at('ca.pem')]);
    const send = await undiciSender({ env: {}, trust, fresh: true });
    for (let i = 0; i < 3; i++) await (await send(target.origin, post())).text();
    expect(target).toMatchObject({ connections: 4, requests: { length: 3 } });
    expect(trust.added).toEqual({ source: at('ca.pem'), count: 1 });
  });

  it('is accepted on ten connections at once', async () => {
    const target = await server();
    const send = await undiciSender({ env: {}, trust: new Trust({}, [at('ca.pem')]), fresh: true });
    const answers = Array.from({ length: 10 }, async () => (await send(target.origin, post())).text());
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['over TLS']));
    expect(target.requests.length).toBe(10);
  });

  it('is accepted with SSL_CERT_FILE, which replaces the bundle of the system', async () => {
    const target = await server();
    expect(await ask(target, { SSL_CERT_FILE: at('ca.pem') })).toBe('over TLS');
    await failureOf(ask(target, { SSL_CERT_FILE: at('other.pem') }, [at('ca.pem')]));
    expect(target.requests.length).toBe(1);
  });

  it('is accepted with NODE_EXTRA_CA_CERTS also where a bundle was added', async () => {
    const target = await server();
    expect(await ask(target, { NODE_EXTRA_CA_CERTS: at('ca.pem') }, [at('other.pem')])).toBe('over TLS');
    expect(await ask(target, { NODE_EXTRA_CA_CERTS: at('ca.pem'), SSL_CERT_FILE: at('other.pem') })).toBe('over TLS');
  });

  it.each([{}, { SSL_CERT_FILE: 'other.pem' }])('that nobody knows, with %j: tls, nothing was sent', async (names) => {
    const target = await server();
    const env = Object.fromEntries(Object.entries(names).map(([name, file]) => [name, at(file)]));
    const error = await failureOf(ask(target, env, [at('other.pem')]));
    expect(error).toMatchObject({ kind: 'tls', sent: false, unknownIssuer: true });
    const told = `${error.message}\n${error.hint}`.replaceAll(folder, 'FOLDER').replace(/:\d+/, ':PORT');
    expectGolden('errors', told);
    expect(target.requests).toEqual([]);
  });

  it('is an error where the system has no bundle', async () => {
    const target = await server();
    expect(await failureOf(ask(target, {}))).toMatchObject({ kind: 'tls', sent: false, unknownIssuer: true });
    expect(target.requests).toEqual([]);
  });

  it('leaves the time limit of the connection as it is', async () => {
    const target = await server();
    const connector = createConnector({
      proxyFor: () => undefined,
      limit: 1,
      trust: new Trust({}, [at('ca.pem')]),
    });
    await expect(connector.connect(new URL(target.origin))).rejects.toMatchObject({ kind: 'timeout', sent: false });
  });

  it.each(['elsewhere', 'expired'] as const)('is not the reason where the certificate is %s', async (kind) => {
    const target = await server(certificates[kind]);
    const error = await failureOf(ask(target, {}, [at('ca.pem')]));
    expect(error).toMatchObject({ kind: 'tls', sent: false, unknownIssuer: false });
    expect(target.requests).toEqual([]);
  });

  it('is never accepted by the name of an authority alone', async () => {
    const target = await server();
    const twin = makeCertificates().ca;
    writeFileSync(at('twin.pem'), twin);
    expect(await failureOf(ask(target, {}, [at('twin.pem')]))).toMatchObject({ kind: 'tls', sent: false });
    expect(target.requests).toEqual([]);
  });

  it('is accepted by the probe before a login', async () => {
    const target = await server();
    await probeOrigin(target.origin, { SSL_CERT_FILE: at('ca.pem') }, 5000);
    expect(target.requests).toEqual([]);
  });
});

describe('the added certificates', () => {
  const contextsOf = (trust: Trust): number => [...trust.contexts()].length;

  it('are read once in a process for the same variables', () => {
    const env = { SSL_CERT_FILE: at('ca.pem') };
    expect(trustOf(env)).toBe(trustOf({ ...env }));
    expect(trustOf(env)).not.toBe(trustOf({}));
  });

  it('of a bundle that cannot be used are those of the next one', () => {
    for (const bad of [folder, at('none.pem'), '/dev/null']) {
      const trust = new Trust({}, [bad, at('ca.pem')]);
      expect(contextsOf(trust)).toBe(2);
      expect(trust.added?.source).toBe(at('ca.pem'));
    }
    expect(contextsOf(new Trust({}, [folder]))).toBe(1);
  });

  it.each(['', undefined])('are those of the system where SSL_CERT_FILE is %j', async (value) => {
    const target = await server();
    const env: Record<string, string> = value === undefined ? {} : { SSL_CERT_FILE: value };
    expect(await ask(target, env, [at('ca.pem')])).toBe('over TLS');
  });
});

describe('SSL_CERT_FILE', () => {
  const pem = (): string => certificates.ca;
  const openssl = (...words: string[]): string => execFileSync('openssl', words, { encoding: 'latin1' });
  const made = (name: string, ...words: string[]): string => {
    execFileSync(words[0] ?? '', [...words.slice(1), at(name)]);
    return at(name);
  };
  const written = (content: string | Buffer): string => {
    writeFileSync(at('file.pem'), content);
    return at('file.pem');
  };

  it.each<readonly [string, () => string | Buffer]>([
    ['one certificate', () => pem()],
    ['text between certificates', () => `# one\nsubject=x\n${other}\nIssuer: y\n\n${pem()}\n# end`],
    ['a byte order mark', () => `\uFEFF${pem()}`],
    ['Windows line ends', () => pem().replaceAll('\n', '\r\n')],
    ['UTF-16 of Windows PowerShell', () => Buffer.from(`\uFEFF${pem().replaceAll('\n', '\r\n')}`, 'utf16le')],
    ['no line end at the end', () => pem().trimEnd()],
    ['spaces after BEGIN', () => pem().replace('CERTIFICATE-----\n', 'CERTIFICATE-----  \n')],
    ['the old name', () => pem().replaceAll(' CERTIFICATE', ' X509 CERTIFICATE')],
    ['the trusted format', () => openssl('x509', '-in', at('ca.pem'), '-trustout')],
    ['its text before it', () => openssl('x509', '-in', at('ca.pem'), '-text')],
    [
      'a key and a list of revoked ones beside it',
      () => `${certificates.key}-----BEGIN X509 CRL-----\nMA==\n-----END X509 CRL-----\n${pem()}`,
    ],
    ['latin-1 in a comment', () => Buffer.concat([Buffer.from('# f\xfcr\n', 'latin1'), Buffer.from(pem())])],
    ['the certificate of the server twice', () => `${pem()}${pem()}`],
    ['a damaged one commented out', () => `# -----BEGIN CERTIFICATE-----\n# !\n# -----END CERTIFICATE-----\n${pem()}`],
  ])('with %s is read', async (_, content) => {
    const target = await server();
    expect(await ask(target, { SSL_CERT_FILE: written(content()) })).toBe('over TLS');
  });

  it('may be a symbolic link', async () => {
    symlinkSync(at('ca.pem'), at('link.pem'));
    expect(await ask(await server(), { SSL_CERT_FILE: at('link.pem') })).toBe('over TLS');
  });

  it('that distrusts an authority is heard', async () => {
    const distrusted = openssl('x509', '-in', at('ca.pem'), '-trustout', '-addreject', 'serverAuth');
    const error = await failureOf(ask(await server(), { SSL_CERT_FILE: written(distrusted) }));
    expect(error).toMatchObject({ kind: 'tls', sent: false });
  });

  it.each<readonly [string, () => string]>([
    ['is missing', () => at('missing.pem')],
    ['is below a file', () => at('ca.pem/x')],
    ['is a folder', () => folder],
    ['is a pipe', () => made('pipe', 'mkfifo')],
    ['is a device', () => '/dev/zero'],
    ['is empty', () => written('')],
    ['has no certificate', () => written(certificates.key)],
    ['is text', () => written('hello\n')],
    ['is a link to itself', () => made('loop', 'ln', '-s', at('loop'))],
    ['is in DER form', () => made('ca.der', 'openssl', 'x509', '-in', at('ca.pem'), '-outform', 'der', '-out')],
    ['has a commented certificate only', () => written(pem().replaceAll(/^/gm, '# '))],
    ['ends early', () => written(`${other}${pem().slice(0, 200)}`)],
    ['has one without an end', () => written(`${pem().replace(/-----END.*\n/, '')}${other}`)],
    ['has another character in one', () => written(`x\n${other}${pem().replace('MII', 'M!I')}`)],
    ['has zeros in one', () => written(`${pem().slice(0, 100)}${'\0'.repeat(100)}${pem().slice(200)}`)],
    ['is too large', () => made('large', 'truncate', '-s', '17M')],
  ])('that %s is an error before the request', async (_, make) => {
    const target = await server();
    const env = { SSL_CERT_FILE: make() };
    const error = await failureOf(ask(target, env, [at('ca.pem')]));
    expect(error).toMatchObject({ name: 'CliError', code: 'config_invalid' });
    if (error instanceof CliError)
      expectGolden('errors', [error.message, error.detail, error.hint].join('\n').replaceAll(folder, 'FOLDER'));
    await expect(probeOrigin(target.origin, env, 5000)).rejects.toMatchObject({ code: 'config_invalid' });
    expect(target.connections).toBe(0);
  });

  it('that cannot be read is an error', async () => {
    const path = at('secret');
    mkdirSync(path);
    writeFileSync(join(path, 'ca.pem'), pem());
    chmodSync(join(path, 'ca.pem'), 0);
    if (process.getuid?.() === 0) return;
    const error = await failureOf(ask(await server(), { SSL_CERT_FILE: join(path, 'ca.pem') }));
    expect(error).toMatchObject({ code: 'config_invalid' });
  });

  it('is not read for http, and for https of a proxy alone is', async () => {
    const env = { SSL_CERT_FILE: at('missing.pem') };
    const send = await undiciSender({ env });
    await expect(send('http://127.0.0.1:9/', post())).rejects.toMatchObject({ kind: 'refused' });
    const proxied = await undiciSender({ env: { ...env, HTTP_PROXY: 'https://127.0.0.1:9' } });
    await expect(proxied('http://api.example.test/', post())).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('shows nothing of a path that could change the terminal', async () => {
    const error = await failureOf(ask(await server(), { SSL_CERT_FILE: '/a\u001b[2Jb\nc' }));
    expect(`${error.message}${error instanceof CliError ? error.detail : ''}`).not.toMatch(/\u001b|\n/);
  });

  it('with the bundle of a whole system and the authority at its end is read in order', async () => {
    const path = written(`${rootCertificates.join('\n')}\n`);
    appendFileSync(path, pem());
    expect(await ask(await server(), { SSL_CERT_FILE: path })).toBe('over TLS');
  });
});
