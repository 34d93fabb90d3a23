import { describe, expect, test } from 'vitest';
import { protectedAnswer, type RawAnswer } from '../auth/loopback/raw-client.ts';
import { errorOf } from '../e2e/login/machine.ts';
import { reply } from '../fixtures/fake-server.ts';
import { type Authority, authorityFor, code, goodGrant } from './authority.ts';
import { navigation, startVictimMachine, type Victim } from './victim.ts';

/** A response that ends the login: what the tab is told, and what the program says with `-o json`. */
async function endsWith(
  target: (victim: Victim) => string,
  words: readonly string[] = [],
  authority?: Authority,
): Promise<{
  readonly error: ReturnType<typeof errorOf>;
  readonly page: RawAnswer;
  readonly authority: Authority;
  readonly stored: boolean;
}> {
  const server = authority ?? (await authorityFor());
  const computer = await startVictimMachine(server);
  const victim = await computer.login(['-o', 'json', ...words]);
  const redirect = await victim.get(target(victim), ...navigation);
  expect(redirect.status).toBe(303);
  protectedAnswer(redirect);
  const page = await victim.get(redirect.headers.get('location') ?? '', ...navigation);
  protectedAnswer(page);
  const ran = await victim.running.ended;
  expect(ran.stdout).toBe('');
  const status = await computer.run(['auth', 'token']);
  return { error: errorOf(ran), page, authority: server, stored: status.code === 0 };
}

describe('state, code, error', () => {
  test('rule 19: the state is 256 bits, new for every login', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const states = new Set<string>();
    for (let round = 0; round < 4; round++) {
      const victim = await computer.login();
      expect(Buffer.from(victim.state, 'base64url').length).toBeGreaterThanOrEqual(32);
      expect(victim.state).toMatch(/^[A-Za-z0-9_-]{43,}$/);
      states.add(victim.state);
      victim.running.kill('SIGINT');
      await victim.running.ended;
    }
    expect(states.size).toBe(4);
  });

  test.each<readonly [string, (victim: Victim) => string]>([
    ['missing, with a code', () => `/callback?code=${code}`],
    ['empty', () => `/callback?code=${code}&state=`],
    ['another', () => `/callback?code=${code}&state=${'A'.repeat(43)}`],
    ['a prefix', ({ state }) => `/callback?code=${code}&state=${state.slice(0, -1)}`],
    ['one longer', ({ state }) => `/callback?code=${code}&state=${state}A`],
    ['other case', ({ state }) => `/callback?code=${code}&state=${swapCase(state)}`],
    ['with an error', () => '/callback?error=access_denied&error_description=PWNED&state=x'],
    ['missing, with an error', () => '/callback?error=access_denied&error_description=PWNED'],
  ])('rule 20: a state that is %s ends the login without a token request', async (_, target) => {
    const { error, page, authority, stored } = await endsWith(target);
    expect(error).toMatchObject({ code: 'state_mismatch', exit_code: 4 });
    expect(authority.tokenRequests()).toEqual([]);
    expect(page.body + JSON.stringify(error)).not.toContain('PWNED');
    expect(page.body).not.toContain('<main class="done">');
    expect(stored).toBe(false);
  });

  test('rule 20: what is no authorization response is noise, and leaves the login as it was', async () => {
    const authority = await authorityFor();
    const victim = await (await startVictimMachine(authority)).login();
    for (const query of ['', '?', '?state=x', `?state=${victim.state}`, '?foo=bar', '?access_token=x', '?codes=1'])
      expect({ query, status: (await victim.get(`/callback${query}`, ...navigation)).status }).toEqual({
        query,
        status: 400,
      });
    expect(authority.tokenRequests()).toEqual([]);
    await victim.completes();
  });

  test.each<readonly [string, (victim: Victim) => string]>([
    ['code and error', ({ genuine }) => `${genuine}&error=access_denied`],
    ['an access token in the query', ({ genuine }) => `${genuine}&access_token=x`],
    ['an empty code', ({ state }) => `/callback?code=&state=${state}`],
  ])('rule 21: %s is malformed', async (_, target) => {
    const { error, authority, stored } = await endsWith(target);
    expect(error).toMatchObject({ code: 'malformed_response', exit_code: 4 });
    expect(authority.tokenRequests()).toEqual([]);
    expect(stored).toBe(false);
  });

  test('rule 22: of twenty identical redirects at once one is taken, and one token request is made', async () => {
    const authority = await authorityFor({
      token: (_, response) => void setTimeout(() => reply(response, 200, goodGrant), 300),
    });
    const victim = await (await startVictimMachine(authority)).login();
    const answers = await Promise.all(Array.from({ length: 20 }, () => victim.get(victim.genuine, ...navigation)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array.from({ length: 19 }, () => 410)]);
    for (const answer of answers) protectedAnswer(answer);
    const taken = answers.find(({ status }) => status === 303);
    await victim.get(taken?.headers.get('location') ?? '', ...navigation);
    expect((await victim.running.ended).code).toBe(0);
    expect(authority.tokenRequests()).toHaveLength(1);
  });

  test.each([
    ['access_denied', 'access_denied', 4],
    ['consent_required', 'consent_required', 4],
    ['login_required', 'login_required', 4],
    ['invalid_scope', 'invalid_scope', 4],
    ['server_error', 'server_error', 1],
    ['temporarily_unavailable', 'temporarily_unavailable', 1],
    ['made_up_by_somebody', 'api_error', 1],
  ] as const)('rule 23: the error %s has its own words and code %s', async (name, wanted, exit) => {
    const { error, stored, authority } = await endsWith(({ state }) => `/callback?error=${name}&state=${state}`);
    expect({ code: error.code, exit: error.exit_code > 0 }).toEqual({ code: wanted, exit: true });
    if (exit === 4) expect(error.exit_code).toBe(4);
    expect(authority.tokenRequests()).toEqual([]);
    expect(stored).toBe(false);
  });

  test('rule 24: PKCE is S256, its verifier fits the challenge; --no-pkce leaves both out', async () => {
    const { createHash } = await import('node:crypto');
    const authority = await authorityFor();
    const victim = await (await startVictimMachine(authority)).login();
    expect(victim.authorizationUrl.searchParams.get('code_challenge_method')).toBe('S256');
    await victim.completes();
    const sent = new URL(authority.tokenRequests()[0]?.url ?? '', 'http://x').searchParams.get('code_verifier') ?? '';
    expect(sent).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
    expect(createHash('sha256').update(sent).digest('base64url')).toBe(
      victim.authorizationUrl.searchParams.get('code_challenge'),
    );
    const without = await (await startVictimMachine(authority)).login(['--no-pkce']);
    expect(without.authorizationUrl.search).not.toContain('code_challenge');
    await without.completes();
    expect(authority.tokenRequests()[1]?.url).not.toContain('code_verifier');
  });

  test('rule 25: an issuer other than the one the profile names is refused; unknown parameters are not looked at', async () => {
    const authority = await authorityFor();
    const computer = await startVictimMachine(authority);
    expect((await computer.run(['config', 'set', 'issuer', authority.origin])).code).toBe(0);
    const victim = await computer.login(['-o', 'json']);
    const redirect = await victim.get(`${victim.genuine}&iss=https%3A%2F%2Fevil.example`, ...navigation);
    await victim.get(redirect.headers.get('location') ?? '', ...navigation);
    expect(errorOf(await victim.running.ended).exit_code).toBe(4);
    expect(authority.tokenRequests()).toEqual([]);
    const again = await computer.login();
    const good = await again.get(
      `${again.genuine}&iss=${encodeURIComponent(authority.origin)}&session_state=x&x=y`,
      ...navigation,
    );
    await again.get(good.headers.get('location') ?? '', ...navigation);
    expect((await again.running.ended).code).toBe(0);
  });

  test('rule 26: no text of a query reaches a page, and what reaches the terminal is stripped and cut', async () => {
    const evil = '<script>alert(1)</script>\u001b]0;PWNED\u0007\u202etxt\u009b31m';
    const long = encodeURIComponent(`${evil}${'z'.repeat(2000)}`);
    const { error, page } = await endsWith(
      ({ state }) => `/callback?error=access_denied&error_description=${long}&state=${state}`,
    );
    expect(page.body).not.toContain('alert(1)');
    const text = JSON.stringify(error);
    expect(text).not.toMatch(/\\u001b|\\u202e|\\u009b|\\u0007/i);
    expect(text.match(/z+/)?.[0].length ?? 0).toBeLessThanOrEqual(300);
  });

  test('rule 27: every answer, whatever its status, carries the protecting headers', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const targets = [
      '/',
      '/favicon.ico',
      '/callback',
      '/callback?x=1&x=2',
      '/done/x',
      '/start/x',
      '//',
      '/callback/fragment',
    ];
    for (const target of targets) protectedAnswer(await victim.get(target));
    protectedAnswer(await victim.raw('POST / HTTP/1.1\r\n\r\n'));
    protectedAnswer(await victim.raw('nonsense\r\n\r\n'));
    await victim.completes();
  });

  test('rule 28: the callback answers 303 to a page whose address tells nothing, and the page tells the truth', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const redirect = await victim.get(victim.genuine, ...navigation);
    const location = redirect.headers.get('location') ?? '';
    expect(redirect.status).toBe(303);
    expect(location).toMatch(/^\/done\/[A-Za-z0-9_-]{16,}$/);
    expect(redirect.body).toBe('');
    const page = await victim.get(location, ...navigation);
    expect(page.body).toContain('Sammy Shark');
    for (const secret of [code, victim.state]) expect(page.text).not.toContain(secret);
    expect((await victim.running.ended).code).toBe(0);
  });

  test('rule 28: when the exchange fails the page says so', async () => {
    const refusing = await authorityFor({
      token: (_, response) => reply(response, 400, { error: 'invalid_grant', error_description: 'no' }),
    });
    const { error, page, stored } = await endsWith(({ genuine }) => genuine, [], refusing);
    expect(error).toMatchObject({ code: 'invalid_grant', exit_code: 4, hint: expect.stringContaining('auth login') });
    expect(page.body).not.toContain('<main class="done">');
    expect(stored).toBe(false);
  });

  test('rule 29: a scope other than the one asked for is revoked and not kept, unless it is accepted', async () => {
    const wider = await authorityFor({
      token: (_, response) => reply(response, 200, { ...goodGrant, scope: 'read write' }),
    });
    const { error, stored } = await endsWith(({ genuine }) => genuine, [], wider);
    expect(error).toMatchObject({ code: 'scope_mismatch', exit_code: 4 });
    expect(stored).toBe(false);
    expect(wider.seen.filter(({ url }) => url.startsWith('/v1/oauth/revoke'))).toHaveLength(1);
    const accepted = await (await startVictimMachine(wider)).login(['--accept-scope']);
    await accepted.completes();
  });

  test('rule 29: a grant without a scope counts as the one asked for, and that is said', async () => {
    const { scope: _, ...silent } = goodGrant;
    const authority = await authorityFor({ token: (_seen, response) => reply(response, 200, silent) });
    const victim = await (await startVictimMachine(authority)).login();
    expect((await victim.completes()).stderr).toMatch(/scope/i);
  });

  test('rule 29: invalid_client points to the setup', async () => {
    const refusing = await authorityFor({ token: (_, response) => reply(response, 401, { error: 'invalid_client' }) });
    const { error, stored } = await endsWith(({ genuine }) => genuine, [], refusing);
    expect(error).toMatchObject({ code: 'invalid_client', exit_code: 4, hint: expect.stringContaining('auth setup') });
    expect(stored).toBe(false);
  });
});

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
