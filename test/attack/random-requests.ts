import fc from 'fast-check';
import type { HelperRequest, Phase } from '../../src/auth/loopback/decide.ts';
import { host, navigation, relayHeaders, state } from '../auth/loopback/loopback-fixture.ts';

/** Words of the protocol, near misses and bytes that break parsers, in every order. */
export const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '/callback',
      '/callback/fragment',
      '/start/s1',
      '/done/d1',
      '/',
      '//',
      '?',
      '&',
      '=',
      '#',
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'code=c',
      `state=${state}`,
      'state=x',
      'state=',
      'error=access_denied',
      'access_token=t',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '%63ode=c',
      'state',
      'st%61te=',
      '%00',
      '%2e%2e',
      '/../',
      '/./',
      ';',
      '\\',
      '+',
      '%',
      '%zz',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'http://evil.example',
      `http://${host}`,
      '\r\n',
      '\u0000',
      '\u202e',
      '<script>',
      '"><i>',
      '\ud800',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);
const target = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')) },
  {
    weight: 2,
    arbitrary: fc
      .shuffledSubarray(['code=c', `state=${state}`, 'error=e', 'iss=i', 'x=y'])
      .map((list) => `/callback?${list.join('&')}`),
  },
  { weight: 1, arbitrary: fc.constant(`/callback?code=the-code&state=${state}`) },
);
const method = fc.oneof(
  { weight: 5, arbitrary: fc.constant('GET') },
  { weight: 3, arbitrary: fc.constant('POST') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'DELETE', 'get', 'CONNECT', 'TRACE', '', 'G\u0000T'),
  },
);
const header = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      'Host',
      'host',
      'HOST',
      'Origin',
      'Content-Type',
      'Content-Length',
      'Expect',
      'Sec-Fetch-Mode',
      'Sec-Fetch-Dest',
      'Sec-Fetch-Site',
      'Referer',
    ),
    fc.string({ maxLength: 8 }),
  ),
  fc.oneof(
    fc.constantFrom(
      host,
      'evil.example',
      `${host}.`,
      'null',
      `http://${host}`,
      'https://cloud.example.com',
      'navigate',
      'document',
      'no-cors',
      'image',
      'application/json',
      '17',
      '99999',
      '-1',
      '100-continue',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  ),
);
const rawHeaders = fc.oneof(
  { weight: 2, arbitrary: fc.array(header, { maxLength: 5 }).map((list) => ['Host', host, ...list.flat()]) },
  { weight: 2, arbitrary: fc.constant(['Host', host, ...navigation]) },
  { weight: 2, arbitrary: fc.constant([...relayHeaders]) },
  { weight: 1, arbitrary: fc.array(header, { maxLength: 6 }).map((list) => list.flat()) },
);
const fragment = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('&'));
const body = fc.oneof(
  fc.record({ nonce: fc.constantFrom('nonce-of-the-bridge', 'x', ''), fragment }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    JSON.stringify({
      nonce: 'nonce-of-the-bridge',
      fragment: `access_token=t&token_type=bearer&expires_in=9&state=${state}`,
    }),
  ),
  fc.json({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const anything: fc.Arbitrary<HelperRequest> = fc
  .record({
    peerAddress: fc.constantFrom('127.0.0.1', '::1', '::ffff:127.0.0.1', '127.9.9.9', '10.0.0.1', '', undefined),
    method,
    rawTarget: target,
    rawHeaders,
    body: fc.option(
      fc.oneof(
        body.map((text) => ({ kind: 'text', text }) as const),
        fc.constant({ kind: 'too_long' } as const),
      ),
      { nil: undefined },
    ),
  })
  .map(({ body: read, ...rest }) => (read === undefined ? rest : { ...rest, body: read }));
/** A genuine request of one of the two kinds with some of its parts put in by chance. */
const nearly: fc.Arbitrary<HelperRequest> = fc
  .record({
    base: fc.constantFrom(...genuineRequests()),
    other: anything,
    parts: fc.subarray(['peerAddress', 'method', 'rawTarget', 'rawHeaders', 'body'] as const, { maxLength: 1 }),
  })
  .map(({ base, other, parts }) => {
    const mixed = { ...base, ...Object.fromEntries(parts.map((part) => [part, other[part]])) };
    const { body: read, ...unread } = mixed;
    return read === undefined ? unread : mixed;
  });
export const request = fc.oneof({ weight: 1, arbitrary: anything }, { weight: 1, arbitrary: nearly });

function genuineRequests(): readonly HelperRequest[] {
  const peer = { peerAddress: '127.0.0.1' };
  const relay = (text: string): HelperRequest => ({
    ...peer,
    method: 'POST',
    rawTarget: '/callback/fragment',
    rawHeaders: relayHeaders,
    body: { kind: 'text', text: JSON.stringify({ nonce: 'nonce-of-the-bridge', fragment: text }) },
  });
  const callback = (rawTarget: string): HelperRequest => ({
    ...peer,
    method: 'GET',
    rawTarget,
    rawHeaders: ['Host', host, ...navigation],
  });
  return [
    callback(`/callback?code=the-code&state=${state}`),
    callback(`/callback?error=access_denied&state=${state}`),
    callback(`/callback?code=c&error=e&state=${state}`),
    callback('/callback?code=c&state=x'),
    callback('/callback'),
    callback('/start/s1'),
    callback('/done/d1'),
    relay(`access_token=t&token_type=bearer&expires_in=9&state=${state}`),
    relay(`error=access_denied&state=${state}`),
  ];
}

export const phase: fc.Arbitrary<Phase> = fc.constantFrom<Phase[]>(
  { kind: 'armed', started: false },
  { kind: 'armed', started: true },
  { kind: 'taken' },
  { kind: 'closed' },
);
export const flow = fc.constantFrom('code', 'implicit');
