import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decide,
  type Expectations,
  type HelperRequest,
  type Phase,
  parseParameters,
} from '../../../src/auth/loopback/decide.ts';
import type { AuthorizationResult } from '../../../src/auth/oauth/authorize.ts';
import {
  armed,
  expected,
  genuine,
  host,
  navigation,
  relayed,
  relayHeaders,
  request,
  state,
  taken,
  withHeaders,
} from './loopback-fixture.ts';

const implicit = expected('implicit');
const grant = `access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`;

type Row = readonly [name: string, request: HelperRequest, answer: string];

/** A decision as one word: the page of a refusal, or the kind; of what was taken, the kind of judgement. */
function word(
  input: HelperRequest,
  phase: Phase = armed,
  setup: Expectations<AuthorizationResult> = expected(),
): string {
  const decision = decide(setup, phase, input);
  if (decision.kind === 'taken') return `taken ${decision.accepted.kind}`;
  return decision.kind === 'refuse' ? decision.reason : decision.kind;
}

/** A test for each row. */
function table(
  rows: readonly Row[],
  phase: Phase = armed,
  setup: Expectations<AuthorizationResult> = expected(),
): void {
  test.each(rows)('%s', (_, input, answer) => {
    expect(word(input, phase, setup)).toBe(answer);
  });
}

describe('the order of checks', () => {
  // Each row breaks its own rule and every later one; the earliest rule answers.
  const wrong = {
    peerAddress: '10.0.0.1',
    method: 'PUT',
    rawTarget: '//x?a=1&a=2',
    rawHeaders: ['Host', 'x', 'Sec-Fetch-Mode', 'cors'],
  };
  const peer = { ...wrong, peerAddress: '127.0.0.1' };
  const method = { ...peer, method: 'GET' };
  const named = {
    ...method,
    rawHeaders: ['Host', host, 'Content-Length', '99999', 'Expect', 'x', 'Sec-Fetch-Mode', 'cors'],
  };
  const origin = { ...named, rawTarget: '/x?a=1&a=2' };
  const path = { ...named, rawTarget: '/callback?code=1&code=2&state=other' };
  const size = { ...path, rawHeaders: ['Host', host, 'Sec-Fetch-Mode', 'cors'] };
  const single = { ...size, rawTarget: '/callback?code=1&state=other' };
  table([
    ['peer', wrong, 'forbidden'],
    ['method', peer, 'method_not_allowed'],
    ['Host', method, 'misdirected'],
    ['form of the target', named, 'not_a_response'],
    ['path', origin, 'not_found'],
    ['size', path, 'body_too_large'],
    ['duplicates', size, 'not_a_response'],
    ['Sec-Fetch', single, 'forbidden'],
    ['state', { ...single, rawHeaders: ['Host', host] }, 'taken state_mismatch'],
  ]);

  test('nothing but a response with code or error on the callback ends a login, whatever comes', () => {
    const header = fc.constantFrom('Host', 'Origin', 'Sec-Fetch-Mode', 'Sec-Fetch-Dest', 'Content-Length', 'Expect');
    const value = fc.constantFrom(host, 'null', 'navigate', 'document', 'cors', '0', '99999', 'x');
    const target = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '/callback',
        '/callback?',
        '/callback?state=x',
        '/favicon.ico',
        '/callback/fragment',
        genuine,
        `${genuine}&a&a`,
      ),
    );
    const anything = fc.record({
      peerAddress: fc.constantFrom('127.0.0.1', '::1', '10.0.0.1'),
      method: fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS'),
      rawTarget: target,
      rawHeaders: fc.array(fc.tuple(header, value), { maxLength: 4 }).map((pairs) => ['Host', host, ...pairs.flat()]),
    });
    fc.assert(
      fc.property(anything, fc.constantFrom(expected(), implicit), (input, setup) => {
        const decision = decide(setup, armed, input);
        return (
          decision.kind !== 'taken' ||
          (input.rawTarget === genuine && input.method === 'GET' && input.peerAddress !== '10.0.0.1')
        );
      }),
      { numRuns: 2000 },
    );
  });
});

describe('rule 28: the page behind the redirect exists once a response was taken', () => {
  test('before', () => expect(word(request('/done/d1'))).toBe('not_found'));
  test('after', () => expect(word(request('/done/d1'), taken)).toBe('done'));
  test('another word', () => expect(word(request('/done/d2'), taken)).toBe('not_found'));
});

describe('rule 35: the short link leads to the printed URL until a response was taken', () => {
  test('first', () => expect(word(request('/5b07'))).toBe('short'));
  test('again, and beside the start link', () =>
    expect(word(request('/5b07'), { kind: 'armed', started: true })).toBe('short'));
  test('after a response', () => expect(word(request('/5b07'), taken)).toBe('already_finished'));
  test('another word', () => expect(word(request('/5b08'))).toBe('not_found'));
  test('in a frame', () =>
    expect(word(request('/5b07', withHeaders('Host', host, 'Sec-Fetch-Dest', 'iframe')))).toBe('forbidden'));
});

describe('rule 35: the start link is good for one use', () => {
  test('first', () => expect(word(request('/start/s1'))).toBe('start'));
  test('again', () => expect(word(request('/start/s1'), { kind: 'armed', started: true })).toBe('start_again'));
  test('after the login', () => expect(word(request('/start/s1'), taken)).toBe('already_finished'));
  test('another word', () => expect(word(request('/start/s2'))).toBe('not_found'));
  test('HEAD does not use it up', () =>
    expect(word(request('/start/s1', { method: 'HEAD' }))).toBe('method_not_allowed'));
});

describe('rule 1: only this machine speaks to the helper', () => {
  table([
    ['127.0.0.1', request(genuine), 'taken code'],
    ['another loopback address', request(genuine, { peerAddress: '127.8.0.1' }), 'taken code'],
    ['::1', request(genuine, { peerAddress: '::1' }), 'taken code'],
    ['a mapped loopback address', request(genuine, { peerAddress: '::ffff:127.0.0.1' }), 'taken code'],
    ['the local network', request(genuine, { peerAddress: '192.168.1.7' }), 'forbidden'],
    ['a mapped address of the local network', request(genuine, { peerAddress: '::ffff:192.168.1.7' }), 'forbidden'],
    ['an address that only begins so', request(genuine, { peerAddress: '127.0.0.1.example' }), 'forbidden'],
    ['a peer that is gone', request(genuine, { peerAddress: undefined }), 'forbidden'],
  ]);
});

describe('rule 1: only this user and root speak to the helper', () => {
  table([
    ['this user or root', request(genuine, { isOtherUser: false }), 'taken code'],
    ['a user that the system does not name', request(genuine, { isOtherUser: undefined }), 'taken code'],
    ['another user', request(genuine, { isOtherUser: true }), 'forbidden'],
    ['another user with another method', request(genuine, { isOtherUser: true, method: 'POST' }), 'forbidden'],
  ]);
});

describe('rule 10: GET only on the callback, POST only on the relay', () => {
  table(
    ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT', 'get', ''].map(
      (method): Row => [method || 'no method', request(genuine, { method }), 'method_not_allowed'],
    ),
  );
  table([['the relay path without the implicit flow', relayed(grant), 'method_not_allowed']]);
  describe('with the implicit flow', () => {
    table(
      [
        ['POST on the callback', request('/callback', { method: 'POST' }), 'method_not_allowed'],
        ['GET on the relay', request('/callback/fragment'), 'method_not_allowed'],
        ['POST on the relay', relayed(grant), 'taken implicit_grant'],
      ],
      armed,
      implicit,
    );
  });
  test('405 names the method that is allowed', () => {
    expect(decide(implicit, armed, request('/callback/fragment'))).toMatchObject({ allow: 'POST' });
    expect(decide(implicit, armed, request('/callback', { method: 'HEAD' }))).toMatchObject({
      allow: 'GET',
    });
  });
});

describe('rule 12: exactly one Host header, equal to the authority of the callback URL', () => {
  table([
    ['none', request(genuine, withHeaders(...navigation)), 'misdirected'],
    ['two equal ones', request(genuine, withHeaders('Host', host, 'Host', host)), 'misdirected'],
    ['two different ones', request(genuine, withHeaders('Host', host, 'host', 'evil.example')), 'misdirected'],
    ['localhost for 127.0.0.1', request(genuine, withHeaders('Host', 'localhost:8765')), 'misdirected'],
    ['no port', request(genuine, withHeaders('Host', '127.0.0.1')), 'misdirected'],
    ['another port', request(genuine, withHeaders('Host', '127.0.0.1:8766')), 'misdirected'],
    ['a name that points here', request(genuine, withHeaders('Host', 'rebind.example:8765')), 'misdirected'],
    ['a trailing dot', request(genuine, withHeaders('Host', `${host}.`)), 'misdirected'],
    ['any case of the header name', request(genuine, withHeaders('hOsT', host)), 'taken code'],
  ]);
});

describe('rule 13: the target starts with one slash', () => {
  table([
    ['absolute form', request(`http://${host}${genuine}`), 'not_a_response'],
    ['two slashes', request(`/${genuine}`), 'not_a_response'],
    ['two slashes and a host', request(`//evil.example${genuine}`), 'not_a_response'],
    ['asterisk form', request('*'), 'not_a_response'],
    ['a fragment on the wire', request(`${genuine}#x`), 'not_a_response'],
    ['nothing', request(''), 'not_a_response'],
  ]);
});

describe('rule 14: the raw path is compared byte for byte', () => {
  const tail = genuine.slice('/callback'.length);
  const paths = ['/callbackX', '/callback/', '/callback;x', '/Callback', '/CALLBACK', '/x/../callback', '/./callback'];
  const encoded = [
    '/%63allback',
    '/callbac%6B',
    '/%2e%2e/callback',
    '/callback%00',
    '/callback%3f',
    '/\\callback',
    '/x//callback',
  ];
  table([...paths, ...encoded].map((path): Row => [path, request(`${path}${tail}`), 'not_found']));
});

describe('rule 15: what browsers ask for by themselves changes nothing', () => {
  table(
    ['/favicon.ico', '/robots.txt', '/', '/index.html', '/.well-known/x'].map(
      (path): Row => [path, request(path), 'not_found'],
    ),
  );
  const atRoot = expected('code', { paths: { ...expected().paths, callback: '/' } });
  test('a callback URL without a path is served at /', () => {
    expect(word(request(`/?code=c&state=${state}`), armed, atRoot)).toBe('taken code');
  });
});

describe('rule 9: a body over 16 KiB is refused', () => {
  const length = (value: string) => withHeaders(...relayHeaders, 'Content-Length', value);
  table(
    [
      ['announced', relayed(grant, length('16385')), 'body_too_large'],
      ['just in', relayed(grant, length('16384')), 'taken implicit_grant'],
      ['not a number', relayed(grant, length('x')), 'body_too_large'],
      ['found while reading', relayed(grant, { body: { kind: 'too_long' } }), 'body_too_large'],
    ],
    armed,
    implicit,
  );
});

describe('rule 16: a repeated parameter is refused', () => {
  table([
    ['code', request(`${genuine}&code=other`), 'not_a_response'],
    ['state', request(`${genuine}&state=${state}`), 'not_a_response'],
    ['a name that is only encoded differently', request(`${genuine}&%63ode=other`), 'not_a_response'],
    ['an unknown one', request(`${genuine}&x=1&x=2`), 'not_a_response'],
  ]);
  table([['in the fragment', relayed(`${grant}&state=${state}`), 'not_a_response']], armed, implicit);
});

describe('rule 17: only a top-level navigation ends a login', () => {
  const fetched = (mode: string, destination: string) =>
    request(genuine, withHeaders('Host', host, 'Sec-Fetch-Mode', mode, 'Sec-Fetch-Dest', destination));
  table([
    ['an img', fetched('no-cors', 'image'), 'forbidden'],
    ['a frame', fetched('navigate', 'iframe'), 'forbidden'],
    ['a fetch', fetched('cors', 'empty'), 'forbidden'],
    ['a no-cors fetch', fetched('no-cors', 'empty'), 'forbidden'],
    ['a web socket', fetched('websocket', 'empty'), 'forbidden'],
    ['two modes', request(genuine, withHeaders('Host', host, ...navigation, 'Sec-Fetch-Mode', 'cors')), 'forbidden'],
    [
      'the start page in a frame',
      request('/start/s1', withHeaders('Host', host, 'Sec-Fetch-Dest', 'iframe')),
      'forbidden',
    ],
    ['no Sec-Fetch header at all', request(genuine, withHeaders('Host', host)), 'taken code'],
  ]);
  describe('a page that is fetched in advance is not opened', () => {
    const inAdvance = (target: string, name: string, value: string) =>
      request(target, withHeaders('Host', host, ...navigation, name, value));
    const headers: readonly (readonly [string, string])[] = [
      ['Sec-Purpose', 'prefetch'],
      ['Sec-Purpose', 'prefetch;prerender'],
      ['sec-purpose', 'prefetch;anonymous-client-ip'],
      ['Purpose', 'prefetch'],
      ['X-Purpose', 'preview'],
      ['X-Moz', 'prefetch'],
    ];
    table(headers.map(([name, value]): Row => [`${name}: ${value}`, inAdvance(genuine, name, value), 'forbidden']));
    table([
      ['the start page', inAdvance('/start/s1', 'Sec-Purpose', 'prefetch'), 'forbidden'],
      ['another purpose', inAdvance(genuine, 'Purpose', 'document'), 'taken code'],
    ]);
    table([['the last page', inAdvance('/done/d1', 'Sec-Purpose', 'prefetch'), 'forbidden']], taken);
    table([['the bridge', inAdvance('/callback', 'Sec-Purpose', 'prefetch'), 'forbidden']], armed, implicit);
  });
});

describe('rule 18: an Origin on the callback is the authorization server or null', () => {
  const from = (...origins: readonly string[]) =>
    request(genuine, withHeaders('Host', host, ...origins.flatMap((origin) => ['Origin', origin])));
  table([
    ['the authorization server', from('https://cloud.example.com'), 'taken code'],
    ['null', from('null'), 'taken code'],
    ['another site', from('https://evil.example'), 'forbidden'],
    ['the helper itself', from(`http://${host}`), 'forbidden'],
    ['one good and one bad', from('null', 'https://evil.example'), 'forbidden'],
  ]);
});

describe('rule 20: state is judged before error and before code', () => {
  table([
    ['the right state', request(genuine), 'taken code'],
    ['another state', request('/callback?code=c&state=other'), 'taken state_mismatch'],
    ['no state', request('/callback?code=c'), 'taken state_mismatch'],
    ['an empty state', request('/callback?code=c&state='), 'taken state_mismatch'],
    ['a state that only begins right', request(`/callback?code=c&state=${state}x`), 'taken state_mismatch'],
    ['an error with another state', request('/callback?error=access_denied&state=other'), 'taken state_mismatch'],
    ['an error without state', request('/callback?error=access_denied'), 'taken state_mismatch'],
    ['an error with the right state', request(`/callback?error=access_denied&state=${state}`), 'taken error'],
    ['neither code nor error', request(`/callback?state=${state}`), 'not_a_response'],
    ['no query', request('/callback'), 'not_a_response'],
    ['an access token without the state', request('/callback?access_token=t'), 'not_a_response'],
  ]);
  describe('half a set of Sec-Fetch headers is noise', () => {
    const half = (...headers: readonly string[]) =>
      request('/callback?code=c&state=other', withHeaders('Host', host, ...headers));
    table([
      ['mode alone', half('Sec-Fetch-Mode', 'navigate'), 'not_a_response'],
      ['destination alone', half('Sec-Fetch-Dest', 'document'), 'not_a_response'],
      ['site alone', half('Sec-Fetch-Site', 'none'), 'not_a_response'],
    ]);
  });
});

describe('rule 21: a response that says two things is malformed', () => {
  table([
    ['code and error', request(`${genuine}&error=access_denied`), 'taken malformed'],
    ['code and access_token', request(`${genuine}&access_token=t`), 'taken malformed'],
    ['access_token alone', request(`/callback?access_token=t&state=${state}`), 'taken malformed'],
    ['code and error with another state', request('/callback?code=c&error=e&state=o'), 'taken state_mismatch'],
  ]);
});

describe('rule 22: one response ends the login', () => {
  table(
    [
      ['the same as a pasted one', request(genuine), 'already_finished'],
      ['another state', request('/callback?code=c&state=other'), 'already_finished'],
      ['noise stays noise', request('/callback'), 'not_a_response'],
      ['an img stays refused', request(genuine, withHeaders('Host', host, 'Sec-Fetch-Dest', 'image')), 'forbidden'],
    ],
    taken,
  );
  table(
    [
      ['the bridge', request('/callback'), 'already_finished'],
      ['the relay', relayed(grant), 'already_finished'],
    ],
    taken,
    implicit,
  );
  describe('the same URL again is answered with the outcome', () => {
    const [, query = ''] = genuine.split('?');
    table(
      [
        ['the same', request(genuine), 'again'],
        ['another code', request(`/callback?code=other&state=${state}`), 'already_finished'],
        ['another state', request(`/callback?code=the-code&state=other`), 'already_finished'],
        ['HEAD', request(genuine, { method: 'HEAD' }), 'method_not_allowed'],
        ['an img', request(genuine, withHeaders('Host', host, 'Sec-Fetch-Dest', 'image')), 'forbidden'],
        ['the start page', request('/start/s1'), 'already_finished'],
      ],
      { kind: 'taken', response: query },
    );
    table([['a relay', relayed(grant), 'already_finished']], { kind: 'taken', response: grant }, implicit);
  });
});

describe('rule 30: with the implicit flow the bare callback serves the bridge', () => {
  table(
    [
      ['no query', request('/callback'), 'bridge'],
      ['an empty query', request('/callback?'), 'bridge'],
      [
        'an error in the query is judged at once',
        request(`/callback?error=access_denied&state=${state}`),
        'taken error',
      ],
      ['an error of another login', request('/callback?error=access_denied&state=other'), 'taken state_mismatch'],
      ['a code', request(genuine), 'taken malformed'],
      ['an issuer alone (RFC 9207)', request('/callback?iss=https%3A%2F%2Fauth.example'), 'bridge'],
      ['an issuer among other things', request('/callback?iss=https%3A%2F%2Fauth.example&x=1'), 'not_a_response'],
      ['anything else', request('/callback?x=1'), 'not_a_response'],
      ['in a frame', request('/callback', withHeaders('Host', host, 'Sec-Fetch-Dest', 'iframe')), 'forbidden'],
    ],
    armed,
    implicit,
  );
  const ownQuery = expected('implicit', { callbackQuery: 'app=1' });
  test('a callback URL with a query of its own keeps it', () => {
    expect(word(request('/callback?app=1'), armed, ownQuery)).toBe('bridge');
    expect(word(request('/callback?app=1&iss=https://auth.example'), armed, ownQuery)).toBe('bridge');
    expect(word(request('/callback'), armed, ownQuery)).toBe('not_a_response');
  });
});

describe('rule 31: the relay hears its own page alone', () => {
  const swap = (name: string, ...values: readonly string[]) => {
    const index = relayHeaders.indexOf(name);
    return withHeaders(...relayHeaders.toSpliced(index, 2, ...values.flatMap((value) => [name, value])));
  };
  table(
    [
      ['a grant', relayed(grant), 'taken implicit_grant'],
      ['an error', relayed(`error=access_denied&state=${state}`), 'taken error'],
      ['another state', relayed('access_token=t&token_type=bearer&expires_in=1&state=other'), 'taken state_mismatch'],
      ['no state', relayed('access_token=t&token_type=bearer&expires_in=1'), 'taken state_mismatch'],
      ['neither token nor error', relayed(`state=${state}`), 'not_a_response'],
      ['a grant that is not bearer', relayed(grant.replace('bearer', 'mac')), 'taken malformed'],
      ['a token and an error', relayed(`${grant}&error=access_denied`), 'taken malformed'],
      ['no Origin', relayed(grant, swap('Origin')), 'forbidden'],
      ['Origin null', relayed(grant, swap('Origin', 'null')), 'forbidden'],
      ['Origin of another port', relayed(grant, swap('Origin', 'http://127.0.0.1:1')), 'forbidden'],
      ['two Origins', relayed(grant, swap('Origin', `http://${host}`, `http://${host}`)), 'forbidden'],
      ['cross-site', relayed(grant, swap('Sec-Fetch-Site', 'cross-site')), 'forbidden'],
      ['same-site', relayed(grant, swap('Sec-Fetch-Site', 'same-site')), 'forbidden'],
      ['no Sec-Fetch-Site', relayed(grant, swap('Sec-Fetch-Site')), 'taken implicit_grant'],
      ['a form', relayed(grant, swap('Content-Type', 'application/x-www-form-urlencoded')), 'forbidden'],
      ['plain text', relayed(grant, swap('Content-Type', 'text/plain')), 'forbidden'],
      ['a charset', relayed(grant, swap('Content-Type', 'application/json; charset=UTF-8')), 'taken implicit_grant'],
      ['another nonce', relayed(grant, {}, 'other'), 'forbidden'],
      ['an empty nonce', relayed(grant, {}, ''), 'forbidden'],
      ['a token in the query', relayed(grant, { rawTarget: `/callback/fragment?${grant}` }), 'not_a_response'],
      ['any query', relayed(grant, { rawTarget: '/callback/fragment?x=1' }), 'not_a_response'],
      ['no JSON', relayed('', { body: { kind: 'text', text: '{' } }), 'not_a_response'],
      ['a JSON list', relayed('', { body: { kind: 'text', text: '[]' } }), 'not_a_response'],
      [
        'a nonce that is no text',
        relayed('', { body: { kind: 'text', text: '{"nonce":1,"fragment":"x"}' } }),
        'not_a_response',
      ],
      ['a token in the query', request(`/callback?access_token=t&state=${state}`), 'taken malformed'],
    ],
    armed,
    implicit,
  );
  test('the body is read only behind every check of the headers', () => {
    const unread = { method: 'POST', rawTarget: '/callback/fragment', peerAddress: '::1' } as const;
    expect(word({ ...unread, rawHeaders: relayHeaders }, armed, implicit)).toBe('read_body');
    expect(word({ ...unread, rawHeaders: ['Host', host] }, armed, implicit)).toBe('forbidden');
  });
});

test('names and values are decoded as a form', () => {
  expect([...(parseParameters('a=1&b=x+y%20z&c=&d&%65=2') ?? [])]).toEqual([
    ['a', '1'],
    ['b', 'x y z'],
    ['c', ''],
    ['d', ''],
    ['e', '2'],
  ]);
  expect(parseParameters('')?.size).toBe(0);
});

test.each(['a=1&a=1', 'a=1&%61=2', 'a&a', 'x=1&y=2&x=3'])(
  'rule 16: a parameter that comes twice spoils the whole: %s',
  (raw) => {
    expect(parseParameters(raw)).toBeUndefined();
  },
);
