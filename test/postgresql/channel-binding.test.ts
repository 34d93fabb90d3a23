import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgresql } from '../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { type Interceptor, interceptTls } from '../fixtures/tls-interceptor.ts';
import { sourceOf } from './source-of.ts';

const options = { dbname: 'postgres', limit: 5000 };
const logIn = async (source: PostgresqlEndpoint) => {
  const session = await connectPostgresql(source, options);
  await session.end();
  return session.authentication;
};

/** A self-signed certificate with this kind of key and signature. */
function selfSigned(...parameters: readonly string[]): { readonly certificate: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-keys-'));
  try {
    const names = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert'), '-subj', '/CN=source'];
    execFileSync('openssl', ['req', '-x509', '-nodes', '-days', '9', ...parameters, ...names], { stdio: 'ignore' });
    return { certificate: readFileSync(join(folder, 'cert'), 'utf8'), key: readFileSync(join(folder, 'key'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ec = (curve: string) => ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`] as const;
const pss = ['-newkey', 'rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048', '-sha256'] as const;

test.each([
  ['RSA, SHA-256', ['-newkey', 'rsa:2048', '-sha256']],
  ['RSA, SHA-384', ['-newkey', 'rsa:2048', '-sha384']],
  ['RSA, SHA-512', ['-newkey', 'rsa:2048', '-sha512']],
  ['RSA-PSS', pss],
  ['ECDSA P-256', ec('prime256v1')],
  ['ECDSA P-384, SHA-384', [...ec('secp384r1'), '-sha384']],
] as const)('the password is bound to a certificate with %s', async (_kind, parameters) => {
  const { certificate, key } = selfSigned(...parameters);
  const server = await startPostgres({
    version: 17,
    tls: true,
    files: { 'server.crt': certificate, 'server.key': key },
  });
  await server.rules('hostssl all all 127.0.0.1/32 scram-sha-256');
  expect(await logIn(sourceOf(server))).toBe('scram-sha-256-plus');
});

describe.each([14, 18] as const)('PostgreSQL %d', (version) => {
  let server: Postgres;
  let source: PostgresqlEndpoint;
  const interceptors: Interceptor[] = [];
  beforeAll(async () => {
    server = await startPostgres({
      version,
      tls: true,
      setup: [
        "SET password_encryption = 'md5'; CREATE ROLE md LOGIN PASSWORD 'secret'",
        "CREATE ROLE clear LOGIN PASSWORD 'secret'; CREATE ROLE open LOGIN",
      ],
    });
    source = sourceOf(server);
    await server.rules(
      'host all md 127.0.0.1/32 md5',
      'host all clear 127.0.0.1/32 password',
      'host all open 127.0.0.1/32 trust',
      'host all all 127.0.0.1/32 scram-sha-256',
    );
    return () => server.stop();
  }, 60_000);
  afterEach(() => {
    for (const interceptor of interceptors.splice(0)) interceptor.stop();
  });
  const through = async (...[upstream, rewrite]: [upstream: 'tls' | 'plain', rewrite?: (bytes: Buffer) => Buffer]) => {
    const interceptor = await interceptTls(server.port, upstream, rewrite);
    interceptors.push(interceptor);
    return { ...source, port: interceptor.port };
  };
  const withoutBinding = (bytes: Buffer) => {
    const plus = Buffer.from('SCRAM-SHA-256-PLUS\0');
    const at = bytes.indexOf(plus);
    if (at < 0) return bytes;
    const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + plus.length)]);
    rest.writeInt32BE(rest.readInt32BE(1) - plus.length, 1);
    return rest;
  };

  test('each method is reported', async () => {
    expect(await logIn(source)).toBe('scram-sha-256-plus');
    expect(await logIn({ ...source, ssl: 'disable' })).toBe('scram-sha-256');
    expect(await logIn({ ...source, username: 'md' })).toBe('md5');
    expect(await logIn({ ...source, username: 'clear' })).toBe('password');
    expect(await logIn({ ...source, username: 'open' })).toBe('none');
  });

  test('a man in the middle who passes SCRAM on is refused by the server', async () => {
    await expect(logIn(await through('tls'))).rejects.toMatchObject({ phase: 'startup', code: 'CHANNEL_BINDING' });
  });

  test('and also when he hides that the server can bind the channel', async () => {
    await expect(logIn(await through('tls', withoutBinding))).rejects.toMatchObject({
      phase: 'startup',
      code: 'CHANNEL_BINDING',
    });
  });

  test('without TLS to the server he succeeds, and the method tells that no channel was bound', async () => {
    expect(await logIn(await through('plain'))).toBe('scram-sha-256');
  });
});
