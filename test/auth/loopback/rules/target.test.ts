import { describe, expect, test } from 'vitest';
import { type Row, table, word } from '../decision-table.ts';
import {
  armed,
  expected,
  genuine,
  host,
  relayed,
  relayHeaders,
  request,
  state,
  withHeaders,
} from '../loopback-fixture.ts';

const implicit = expected('implicit');
const grant = `access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`;

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
