import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { head } from '../auth/loopback/raw-client.ts';
import { errorOf } from '../e2e/login/machine.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { lacks } from '../fixtures/needs.ts';
import { terminal } from '../fixtures/terminal.ts';
import { type Authority, accessToken, authorityFor, clientSecret, code, goodGrant, refreshToken } from './authority.ts';
import { exchange, navigation, startVictimMachine, type Victim, type VictimMachine } from './victim.ts';

/** Follows the genuine redirect to the end, whatever the end is. */
async function redirected(victim: Victim): ReturnType<VictimMachine['run']> {
  const redirect = await victim.get(victim.genuine, ...navigation);
  await victim.get(redirect.headers.get('location') ?? '', ...navigation);
  return victim.running.ended;
}

async function loggedIn(authority: Authority): Promise<VictimMachine> {
  const computer = await startVictimMachine(authority);
  expect((await redirected(await computer.login())).code).toBe(0);
  return computer;
}

describe('secrets and transport', () => {
  test('rule 33: a trace shows method, origin, path, names of parameters and status, and no value', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login(['--trace']);
    const ran = await redirected(victim);
    expect(ran.stderr).toMatch(/POST http:\/\/127\.0\.0\.1:\d+\/v1\/oauth\/token/);
    expect(ran.stderr).toContain('client_secret');
    expect(ran.stderr).toContain('200');
    for (const secret of [clientSecret, code, accessToken, refreshToken]) expect(ran.stderr).not.toContain(secret);
  });

  test.each(['undici', 'fetch', 'http', 'net', '*', 'HTTP,tls'])(
    'rule 34: NODE_DEBUG=%s refuses token calls',
    async (debug) => {
      const authority = await authorityFor();
      const computer = await startVictimMachine(authority);
      const ran = await computer.run(['auth', 'login', '--no-browser'], { NODE_DEBUG: debug });
      expect(ran.code).toBe(2);
      expect(ran.stderr).toContain('unset NODE_DEBUG');
      expect(authority.seen).toEqual([]);
    },
  );

  test('rule 34: an address that cannot be parsed never shows itself', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const ran = await computer.run(['auth', 'login', '--no-browser'], {
      CLOUDCTL_AUTH_URL: `https://[${clientSecret}`,
    });
    expect(ran.code).toBe(2);
  });

  test('rules 35 and 36: the opener gets one one-time http address and nothing else, no secret in any argv', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const opener = join(computer.folders.work, 'opener.sh');
    const seen = join(computer.folders.work, 'argv');
    writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > ${seen}.new\nmv ${seen}.new ${seen}\n`);
    chmodSync(opener, 0o755);
    const screen = await terminal(['auth', 'login'], {
      folders: computer.folders,
      env: { ...computer.options.env, BROWSER: opener },
      columns: 300,
    });
    try {
      while (!existsSync(seen)) await sleep(20);
      const [count, url = ''] = readFileSync(seen, 'utf8').trimEnd().split('\n');
      expect(count).toBe('1');
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/start\/[A-Za-z0-9_-]{16,}$/);
      const first = await fetch(url, {
        redirect: 'manual',
        headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      });
      expect(first.status === 303 || first.status === 403).toBe(true);
      await screen.press('C-c');
      expect(await screen.ended()).toBe(130);
    } finally {
      await screen.close();
    }
  });

  test('rule 35: the start link serves once', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const opener = join(computer.folders.work, 'opener.sh');
    const seen = join(computer.folders.work, 'url');
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > ${seen}.new\nmv ${seen}.new ${seen}\n`);
    chmodSync(opener, 0o755);
    const screen = await terminal(['auth', 'login'], {
      folders: computer.folders,
      env: { ...computer.options.env, BROWSER: opener },
    });
    try {
      while (!existsSync(seen)) await sleep(20);
      const { host, port, pathname } = new URL(readFileSync(seen, 'utf8'));

      const visit = () => exchange(Number(port), '127.0.0.1', head('GET', pathname, `Host: ${host}`, ...navigation));
      const first = await visit();
      expect(first.status).toBe(303);
      expect(first.headers.get('location')).toMatch(/\/v1\/oauth\/authorize\?/);
      expect((await visit()).status).toBe(410);
      await screen.press('C-c');
      await screen.ended();
    } finally {
      await screen.close();
    }
  });

  test.each([
    'http://example.com',
    'ftp://127.0.0.1',
    'https://user:pass@example.com',
    'https://example.com/path',
    'https://example.com/?q=1',
    'https://example.com/#f',
    'javascript:alert(1)',
    'http://127.0.0.1.evil.example',
    'http://[::ffff:1.2.3.4]',
    ' https://example.com/x',
    'file:///etc/passwd',
  ])('rule 37: auth_url and base_url %s are refused before any packet', async (url) => {
    const computer = await startVictimMachine(await authorityFor());
    for (const variable of ['CLOUDCTL_AUTH_URL', 'CLOUDCTL_BASE_URL']) {
      const ran = await computer.run(['auth', 'login', '--no-browser'], { [variable]: url });
      expect({ url, variable, code: ran.code }).toEqual({ url, variable, code: 2 });
    }
  });

  test.each([6000, 6667, 25, 1, 10080])(
    'rule 37: a callback URL on port %i, where browsers do not go, is refused',
    async (port) => {
      const computer = await startVictimMachine(await authorityFor());
      const ran = await computer.run(['auth', 'login', '--no-browser'], {
        CLOUDCTL_CALLBACK_URL: `http://127.0.0.1:${port}/callback`,
      });
      expect(ran.code).toBe(2);
    },
  );

  test.each([301, 302, 303, 307, 308])(
    'rule 38: a %i of the token endpoint is an error and never followed',
    async (status) => {
      const thief = await serverFor((_, response) => reply(response, 200, goodGrant));
      const authority = await authorityFor({
        token: (_, response) => reply(response, status, '', { location: `${thief.origin}/v1/oauth/token` }),
      });
      const ran = await redirected(await (await startVictimMachine(authority)).login(['-o', 'json']));
      expect(errorOf(ran).exit_code).toBe(1);
      expect(thief.seen).toEqual([]);
    },
  );

  test('rule 39: NODE_TLS_REJECT_UNAUTHORIZED=0 refuses token calls', async () => {
    const authority = await authorityFor();
    const ran = await (await startVictimMachine(authority)).run(['auth', 'login', '--no-browser'], {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    });
    expect(ran.code).toBe(2);
    expect(authority.seen).toEqual([]);
  });

  test('rule 39: loopback never goes through a proxy', async () => {
    let connections = 0;
    const proxy = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const address = proxy.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const proxied = { HTTPS_PROXY: url, HTTP_PROXY: url, https_proxy: url, http_proxy: url, ALL_PROXY: url };
    const victim = await (await startVictimMachine(await authorityFor())).login([], proxied);
    expect((await redirected(victim)).code).toBe(0);
    expect(connections).toBe(0);
  });

  test('rule 39: a proxy that drops CONNECT is asked once a try, and the command ends in its time', async () => {
    let connections = 0;
    const proxy = createServer((socket) => {
      connections++;
      socket.once('data', () => socket.destroy());
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const address = proxy.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const authority = await authorityFor();
    const computer = await startVictimMachine(authority, {
      CLOUDCTL_ACCESS_TOKEN: accessToken,
      CLOUDCTL_BASE_URL: 'https://api.example.com',
    });
    const ran = await computer.run(['actions', 'list'], { HTTPS_PROXY: url });
    expect(ran.code).toBe(6);
    expect(connections).toBeLessThanOrEqual(5);
  });

  test.each<readonly [string, number, unknown]>([
    ['no JSON', 200, '<html>hello</html>'],
    ['more than 1 MiB', 200, { ...goodGrant, padding: 'x'.repeat(1_100_000) }],
    ['a token with a line break', 200, { ...goodGrant, access_token: 'a\r\nb' }],
    ['a token with a space', 200, { ...goodGrant, access_token: 'a b' }],
    ['an empty token', 200, { ...goodGrant, access_token: '' }],
    ['a token that is a number', 200, { ...goodGrant, access_token: 1 }],
    ['another type', 200, { ...goodGrant, token_type: 'mac' }],
    ['no type', 200, { ...goodGrant, token_type: undefined }],
    ['no lifetime left', 200, { ...goodGrant, expires_in: 0 }],
    ['a negative lifetime', 200, { ...goodGrant, expires_in: -1 }],
    ['an error with 200', 200, { error: 'invalid_grant', error_description: 'x' }],
    ['an error beside a grant', 200, { ...goodGrant, error: 'invalid_grant' }],
    ['a list', 200, [goodGrant]],
    ['null', 200, null],
    ['nothing', 200, ''],
    ['HTML with 500', 500, '<html>oops</html>'],
  ])('rule 40: an answer with %s stores nothing', async (_, status, body) => {
    const authority = await authorityFor({ token: (_seen, response) => reply(response, status, body) });
    const computer = await startVictimMachine(authority);
    const ran = await redirected(await computer.login(['-o', 'json']));
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).toBe('');
    expect(errorOf(ran).code).toMatch(/^(api_error|invalid_grant|unreachable|malformed_response)$/);
    expect((await computer.run(['auth', 'token'])).code).toBe(4);
  });

  test.each(['Bearer', 'BEARER', 'bearer'])('rule 40: token type %s is fine', async (token_type) => {
    const authority = await authorityFor({
      token: (_, response) => reply(response, 200, { ...goodGrant, token_type }),
    });
    expect((await redirected(await (await startVictimMachine(authority)).login())).code).toBe(0);
  });

  test('rule 41: parameters go into the query unless body is asked for, and never into both', async () => {
    const authority = await authorityFor();
    expect((await redirected(await (await startVictimMachine(authority)).login())).code).toBe(0);
    expect((await redirected(await (await startVictimMachine(authority)).login(['--token-params', 'body']))).code).toBe(
      0,
    );
    const [query, body] = authority.tokenRequests();
    expect(query?.url).toContain(`client_secret=${clientSecret}`);
    expect(query?.body).toBe('');
    expect(body?.url).toBe('/v1/oauth/token');
    expect(body?.body).toContain(`client_secret=${clientSecret}`);
    expect(body?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
  });

  test('rule 42: neither a next link nor a redirect of the API takes the token to another origin', async () => {
    const thief = await serverFor((_, response) =>
      reply(response, 200, { actions: [], links: {}, meta: { total: 0 } }),
    );
    const linking = await authorityFor({
      api: (_, response) =>
        reply(response, 200, {
          actions: [],
          links: { pages: { next: `${thief.origin}/v2/actions?page=2` } },
          meta: { total: 5 },
        }),
    });
    expect((await (await loggedIn(linking)).run(['actions', 'list'])).code).toBe(1);
    const redirecting = await authorityFor({
      api: (_, response) => reply(response, 307, '', { location: `${thief.origin}/v2/actions` }),
    });
    expect((await (await loggedIn(redirecting)).run(['actions', 'list'])).code).toBe(1);
    expect(thief.seen).toEqual([]);
  });

  test('rule 43: auth status and a trace never show a token', async () => {
    const computer = await loggedIn(await authorityFor());
    for (const words of [
      ['auth', 'status'],
      ['auth', 'status', '-o', 'json'],
      ['actions', 'list', '--trace'],
      ['auth', 'list'],
    ]) {
      const ran = await computer.run(words);
      expect(ran.code).toBe(0);
      for (const secret of [accessToken, refreshToken, clientSecret])
        expect(ran.stdout + ran.stderr).not.toContain(secret);
    }
    expect((await computer.run(['auth', 'token'])).stdout).toBe(`${accessToken}\n`);
  });

  test.skipIf(lacks('tmux'))('rule 43: auth token says on a terminal that it is a secret', async () => {
    const computer = await loggedIn(await authorityFor());
    const screen = await terminal(['auth', 'token'], {
      folders: computer.folders,
      env: computer.options.env ?? {},
      columns: 200,
    });
    try {
      expect(await screen.ended()).toBe(0);
      const shown = await screen.screen();
      expect(shown).toContain(accessToken);
      expect(shown.replaceAll(accessToken, '')).toMatch(/token|secret/i);
    } finally {
      await screen.close();
    }
  });
});
