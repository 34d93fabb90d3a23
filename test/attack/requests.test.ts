import { describe, expect, test } from 'vitest';
import { head, protectedAnswer } from '../auth/loopback/raw-client.ts';
import { authorityFor } from './authority.ts';
import { navigation, startVictimMachine, type Victim, type VictimMachine } from './victim.ts';

/** Attacks on one login in waiting: each is refused with its status, and the genuine redirect still ends it. */
async function withstands(
  rows: readonly (readonly [name: string, attack: (victim: Victim) => string, status: number])[],
  words: readonly string[] = [],
): Promise<void> {
  const authority = await authorityFor();
  const victim = await (await startVictimMachine(authority)).login(words);
  for (const [name, attack, status] of rows) {
    const answer = await victim.raw(attack(victim));
    expect({ name, status: answer.status }).toEqual({ name, status });
    protectedAnswer(answer);
    expect(answer.text).not.toContain(victim.state);
  }
  expect(authority.tokenRequests()).toEqual([]);
  await victim.completes();
  expect(authority.tokenRequests()).toHaveLength(1);
}

const withHost = (victim: Victim, target: string, ...headers: readonly string[]): string =>
  head('GET', target, `Host: ${victim.host}`, ...headers);

describe('requests', () => {
  test('rule 10: GET alone is heard on the callback', async () => {
    const methods = ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'];
    await withstands(
      methods.map((method) => [
        method,
        (victim) => head(method, victim.genuine, `Host: ${victim.host}`, 'Content-Length: 0', ...navigation),
        405,
      ]),
    );
  });

  test('rule 10: the refusal names the method that is allowed', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const answer = await victim.raw(head('OPTIONS', victim.genuine, `Host: ${victim.host}`));
    expect(answer.headers.get('allow')).toBe('GET');
    await victim.completes();
  });

  test('rule 11: no answer lets another origin read it, a preflight least of all', async () => {
    const victim = await (await startVictimMachine(await authorityFor())).login();
    const asking = ['Origin: https://evil.example', 'Access-Control-Request-Method: GET'];
    for (const target of [victim.genuine, '/', '/callback']) {
      const answer = await victim.raw(head('OPTIONS', target, `Host: ${victim.host}`, ...asking));
      expect(answer.text.toLowerCase()).not.toContain('access-control-');
    }
    await victim.completes();
  });

  test('rule 12: exactly one Host header, equal to the authority of the callback URL', async () => {
    const genuine = (victim: Victim, ...headers: readonly string[]): string => head('GET', victim.genuine, ...headers);
    await withstands([
      ['none', (victim) => genuine(victim), 421],
      ['another', (victim) => genuine(victim, 'Host: evil.example'), 421],
      ['rebound name with the port', (victim) => genuine(victim, `Host: evil.example:${victim.port}`), 421],
      ['the other name of the interface', (victim) => genuine(victim, `Host: localhost:${victim.port}`), 421],
      ['without the port', (victim) => genuine(victim, 'Host: 127.0.0.1'), 421],
      ['with a dot', (victim) => genuine(victim, `Host: 127.0.0.1.:${victim.port}`), 421],
      ['the right one first of two', (victim) => genuine(victim, `Host: ${victim.host}`, 'Host: evil.example'), 421],
      ['the right one last of two', (victim) => genuine(victim, 'Host: evil.example', `Host: ${victim.host}`), 421],
      ['the right one twice', (victim) => genuine(victim, `Host: ${victim.host}`, `Host: ${victim.host}`), 421],
      ['a list', (victim) => genuine(victim, `Host: ${victim.host}, evil.example`), 421],
      ['empty', (victim) => genuine(victim, 'Host:'), 421],
      ['as a decimal number', (victim) => genuine(victim, `Host: 2130706433:${victim.port}`), 421],
    ]);
  });

  test('rule 13: the target begins with one slash', async () => {
    await withstands([
      ['absolute form', (victim) => withHost(victim, `http://${victim.host}${victim.genuine}`), 400],
      ['absolute form of another host', (victim) => withHost(victim, `http://evil.example${victim.genuine}`), 400],
      ['two slashes', (victim) => withHost(victim, `/${victim.genuine}`), 400],
      ['a network path', (victim) => withHost(victim, `//${victim.host}${victim.genuine}`), 400],
      ['a star', (victim) => withHost(victim, '*'), 400],
    ]);
  });

  test('rule 14: the raw path is compared byte for byte', async () => {
    const paths = [
      '/callbackX',
      '/callback/',
      '/callback;x',
      '/callback;jsessionid=1',
      '/Callback',
      '/CALLBACK',
      '/x/../callback',
      '/./callback',
      '/%63allback',
      '/callbac%6B',
      '/%2e%2e/callback',
      '/callback%00',
      '/callback%3F',
      '/callback%20',
      '\\callback',
    ];
    await withstands(
      paths.map((path) => [
        path,
        (victim) => withHost(victim, victim.genuine.replace('/callback', path), ...navigation),
        path.startsWith('/') ? 404 : 400,
      ]),
    );
  });

  test('rule 15: what browsers ask for by themselves changes nothing', async () => {
    await withstands([
      ['favicon', (victim) => withHost(victim, '/favicon.ico'), 404],
      ['robots', (victim) => withHost(victim, '/robots.txt'), 404],
      ['root', (victim) => withHost(victim, '/'), 404],
      ['well-known', (victim) => withHost(victim, '/.well-known/appspecific/com.chrome.devtools.json'), 404],
    ]);
  });

  test('rule 16: a repeated parameter is refused, however it is spelled', async () => {
    const twice = (victim: Victim, more: string): string => withHost(victim, `${victim.genuine}${more}`, ...navigation);
    await withstands([
      ['state', (victim) => twice(victim, `&state=${victim.state}`), 400],
      ['another state', (victim) => twice(victim, '&state=x'), 400],
      ['code', (victim) => twice(victim, '&code=evil'), 400],
      ['an encoded name', (victim) => twice(victim, '&%63ode=evil'), 400],
      ['an empty one', (victim) => twice(victim, '&code='), 400],
      ['a name alone', (victim) => twice(victim, '&state'), 400],
      ['an unknown one', (victim) => twice(victim, '&x=1&x=2'), 400],
    ]);
  });

  test('rule 17: only a top-level navigation is heard', async () => {
    const as = (victim: Victim, mode: string, dest: string): string =>
      withHost(
        victim,
        victim.genuine,
        'Sec-Fetch-Site: cross-site',
        `Sec-Fetch-Mode: ${mode}`,
        `Sec-Fetch-Dest: ${dest}`,
      );
    await withstands([
      ['an image', (victim) => as(victim, 'no-cors', 'image'), 403],
      ['a fetch', (victim) => as(victim, 'cors', 'empty'), 403],
      ['a fetch without cors', (victim) => as(victim, 'no-cors', 'empty'), 403],
      ['a frame', (victim) => as(victim, 'navigate', 'iframe'), 403],
      ['an object', (victim) => as(victim, 'navigate', 'object'), 403],
      ['a script', (victim) => as(victim, 'no-cors', 'script'), 403],
      ['a socket', (victim) => as(victim, 'websocket', 'empty'), 403],
      ['both modes', (victim) => withHost(victim, victim.genuine, ...navigation, 'Sec-Fetch-Mode: no-cors'), 403],
      ['half a set', (victim) => withHost(victim, victim.genuine, 'Sec-Fetch-Site: none'), 400],
    ]);
  });

  test('rule 18: an Origin on the callback is the authorization server or null', async () => {
    const from = (victim: Victim, origin: string): string =>
      withHost(victim, victim.genuine, ...navigation, `Origin: ${origin}`);
    await withstands([
      ['another site', (victim) => from(victim, 'https://evil.example'), 403],
      ['the helper itself', (victim) => from(victim, `http://${victim.host}`), 403],
      ['a prefix', (victim) => from(victim, `${victim.authorizationUrl.origin}.evil.example`), 403],
      ['two', (victim) => withHost(victim, victim.genuine, 'Origin: null', 'Origin: https://evil.example'), 403],
    ]);
    for (const origin of [(victim: Victim) => victim.authorizationUrl.origin, () => 'null']) {
      const computer: VictimMachine = await startVictimMachine(await authorityFor());
      const victim = await computer.login();
      const answer = await victim.get(victim.genuine, ...navigation, `Origin: ${origin(victim)}`);
      expect(answer.status).toBe(303);
      await victim.get(answer.headers.get('location') ?? '', ...navigation);
      expect((await victim.running.ended).code).toBe(0);
    }
  });

  test('an Expect header is answered at once, and a broken request line ends only its own connection', async () => {
    await withstands([
      ['expect', (victim) => withHost(victim, victim.genuine, 'Expect: 100-continue'), 417],
      ['no version', (victim) => `GET ${victim.genuine}\r\n\r\n`, 421],
      ['a space in the target', (victim) => `GET /call back HTTP/1.1\r\nHost: ${victim.host}\r\n\r\n`, 400],
      ['a header without a name', (victim) => withHost(victim, victim.genuine, ': x'), 400],
      ['two lengths', (victim) => withHost(victim, victim.genuine, 'Content-Length: 1', 'Content-Length: 2'), 400],
      [
        'length and chunks',
        (victim) => withHost(victim, victim.genuine, 'Content-Length: 1', 'Transfer-Encoding: chunked'),
        400,
      ],
      ['another protocol', () => 'SSH-2.0-x\r\n\r\n', 400],
    ]);
  });
});
