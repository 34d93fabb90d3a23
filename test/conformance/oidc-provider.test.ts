import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../e2e/login/ports.ts';
import { type OidcServer, signInAtOidcServer, startOidcServer } from '../fixtures/oidc-server.ts';
import { main } from './main.ts';

let server: OidcServer;
let callbackUrl: string;
beforeAll(async () => {
  const [port] = await freePorts(1);
  callbackUrl = `http://127.0.0.1:${port}/callback`;
  server = await startOidcServer(callbackUrl, 'client_secret_post');
});
afterAll(() => server.stop());

test('the differences of oidc-provider are those that the guide lists', async () => {
  const out: string[] = [];
  const place = ['--auth-url', server.issuer, '--base-url', server.issuer];
  const client = ['--client-id', server.client_id, '--callback-url', callbackUrl];
  const code = await main({
    words: [
      ...[...place, ...client, '--allow-writes', '--browser', '--visit-limit', '6'],
      ...['--token-params', 'body', '--pkce'],
    ],
    env: { CLOUDCTL_CLIENT_SECRET: server.client_secret },
    print: (line) => out.push(line),
    note: (line) => {
      out.push(line);
      const [, request = '', url] = /^(.*)\n(http\S+\/authorize\?\S+)$/.exec(line) ?? [];
      // A page at which no person can do more ends the visit of this statement.
      if (url !== undefined)
        signInAtOidcServer(url, 'maya', request.includes('deny') ? 'deny' : 'approve').catch(() => undefined);
    },
    signal: new AbortController().signal,
  });
  expect(code).toBe(3);
  const differing = out.flatMap((line) => /^(\d\S*) +\S+ +differs /.exec(line)?.[1] ?? []);
  expect(differing.toSorted()).toEqual(listedIds().toSorted());
  for (const secret of [server.client_secret, encodeURIComponent(server.client_secret)])
    expect(out.join('\n')).not.toContain(secret);
});

/** The statements in the first column of the last table of the guide. */
function listedIds(): readonly string[] {
  const guide = readFileSync(new URL('../../docs/guides/conformance.md', import.meta.url), 'utf8');
  const [, rows = ''] = /^\| statement \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(guide) ?? [];
  return rows
    .trim()
    .split('\n')
    .flatMap((row) => (row.split('|')[1] ?? '').split(','))
    .map((id) => id.trim());
}
