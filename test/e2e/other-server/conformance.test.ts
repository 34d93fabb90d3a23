import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type OidcServer, signInAtOidcServer, startOidcServer } from '../../fixtures/oidc-server.ts';
import { freePorts } from '../login/ports.ts';

let server: OidcServer;
let folders: Folders;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  const [port] = await freePorts(1);
  const callbackUrl = `http://127.0.0.1:${port}/callback`;
  server = await startOidcServer(callbackUrl, 'client_secret_post');
  folders = makeFolders();
  env = {
    CLOUDCTL_AUTH_URL: server.issuer,
    CLOUDCTL_BASE_URL: server.issuer,
    CLOUDCTL_CLIENT_ID: server.client_id,
    CLOUDCTL_CLIENT_SECRET: server.client_secret,
    CLOUDCTL_CALLBACK_URL: callbackUrl,
    CLOUDCTL_CREDENTIAL_STORE: 'file',
    CLOUDCTL_TOKEN_PARAMS: 'body',
  };
});
afterAll(async () => {
  await server.stop();
  folders.remove();
});

interface Report {
  readonly counts: Readonly<Record<string, number>>;
  readonly results: readonly { readonly id: string; readonly status: string; readonly received?: string }[];
}

test('the differences of oidc-provider are those that the guide lists', async () => {
  expect(await run(['config', 'set', 'pkce', 'true'], { folders, env })).toMatchObject({ code: 0 });
  const options = { folders, env, limit: 100_000 };
  const running = start(
    ['sandbox', 'conformance', '--allow-writes', '--browser', '--login-timeout', '6s', '-o', 'json'],
    options,
  );
  running.child.stdin?.end();
  const visited = new Set<string>();
  const timer = setInterval(() => {
    for (const [, request = '', url = ''] of running.printed().stderr.matchAll(/^(.*)\n(http\S+\/authorize\?\S+)$/gm)) {
      if (visited.has(url)) continue;
      visited.add(url);
      const decision = request.includes('deny') ? 'deny' : 'approve';
      // A page at which no person can do more ends the visit of this statement.
      signInAtOidcServer(url, 'maya', decision).catch(() => undefined);
    }
  }, 50);
  const ran = await running.ended.finally(() => clearInterval(timer));
  expect(ran.code).toBe(3);
  const { results } = ran.json<Report>();
  const differing = results.filter(({ status }) => status === 'differs').map(({ id }) => id);
  expect(differing.toSorted()).toEqual(listedIds().toSorted());
  for (const secret of [server.client_secret, encodeURIComponent(server.client_secret)])
    expect(`${ran.stdout}${ran.stderr}`).not.toContain(secret);
});

/** The statements in the first column of the table of the guide. */
function listedIds(): readonly string[] {
  const guide = readFileSync(new URL('../../../docs/guides/conformance.md', import.meta.url), 'utf8');
  const [, rows = ''] = /^\| statement \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(guide) ?? [];
  return rows
    .trim()
    .split('\n')
    .flatMap((row) => (row.split('|')[1] ?? '').split(','))
    .map((id) => id.trim());
}
