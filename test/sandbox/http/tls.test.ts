import { existsSync, mkdtempSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServers } from '../../../src/sandbox/sandbox.ts';
import { type Certificates, makeCertificates } from '../../platform/certificates.ts';
import { MAYA, sandboxFor, userOf } from '../requests.ts';

let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
const tls = (): { cert: string; key: string } => ({ cert: certificates.cert, key: certificates.key });

/** A request of a client that trusts the authority. The error has the code of the system. */
function get(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
  ca: string | undefined = certificates.ca,
): Promise<{ readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...rest, agent: false, ...(ca === undefined ? {} : { ca }) }, (reply) => {
      let text = '';
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a sandbox with a certificate', () => {
  it('hands out https addresses of both origins, also in links, redirects and cookies', async () => {
    const sandbox = await sandboxFor({ tls: tls() });
    const { auth_url, base_url, panel_url, admin_url, admin_token } = sandbox.ready;
    for (const url of [auth_url, base_url, panel_url, admin_url]) expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+/);
    for (const origin of [auth_url, base_url]) expect((await get(`${origin}/healthz`)).status).toBe(200);
    const { password } = userOf(sandbox, MAYA);
    const body = new URLSearchParams({ email: MAYA, password, next: '/panel' }).toString();
    const headers = { ...form, origin: auth_url };
    const signedIn = await get(`${auth_url}/panel/sign-in`, { method: 'POST', headers, body });
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers['set-cookie']?.[0]).toContain('Secure');
    const foreign = { ...form, origin: auth_url.replace('https', 'http') };
    expect((await get(`${auth_url}/panel/sign-in`, { method: 'POST', headers: foreign, body })).status).toBe(403);
    const admin = { 'x-admin-token': admin_token };
    const issued = { method: 'POST', headers: admin, body: JSON.stringify({ user: MAYA }) };
    const { access_token } = JSON.parse((await get(`${auth_url}/_sandbox/tokens`, issued)).body);
    const bearer = { authorization: `Bearer ${access_token}` };
    const page = JSON.parse((await get(`${base_url}/v2/droplets?per_page=1`, { headers: bearer })).body);
    expect(page.links.pages.next).toMatch(new RegExp(`^${base_url}/v2/droplets\\?`));
  });

  it('refuses a client that does not trust it, or sends plain http, and serves the next one', async () => {
    const { ready } = await sandboxFor({ tls: tls() });
    await expect(get(`${ready.base_url}/healthz`, {}, '')).rejects.toThrow(/certificate|issuer/);
    const plain = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(ready.base_url).port), '127.0.0.1', () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });
    expect(plain).not.toContain('200 OK');
    expect((await get(`${ready.base_url}/healthz`)).status).toBe(200);
  });

  it.each(['reset', 'drop_before_commit', 'half_body', 'slow_drip'] as const)(
    'cuts the connection with the fault %s, and serves the next request',
    async (action) => {
      const sandbox = await sandboxFor({ tls: tls() });
      sandbox.faults.add({ match: { path: '*' }, action, nth: 1, times: 1 });
      const first = get(`${sandbox.ready.auth_url}/v1/oauth/token`, { method: 'POST' });
      if (action === 'slow_drip') expect((await first).status).toBe(400);
      else await expect(first).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect((await get(`${sandbox.ready.auth_url}/v1/oauth/token`, { method: 'POST' })).status).toBe(400);
    },
  );

  it.each<[string, () => { cert: string; key: string }]>([
    ['nothing', () => ({ cert: '', key: '' })],
    ['text', () => ({ cert: 'certificate', key: 'key' })],
    ['the key of another certificate', () => ({ cert: certificates.ca, key: certificates.key })],
    ['certificate and key exchanged', () => ({ cert: certificates.key, key: certificates.cert })],
  ])('does not start with %s', async (_, wrong) => {
    const state = join(mkdtempSync(join(tmpdir(), 'sandbox-tls-')), 'never');
    await expect(startServers({ tls: wrong(), state })).rejects.toThrow('for TLS');
    expect(existsSync(state)).toBe(false);
  });
});
