import { describe, expect, test } from 'vitest';
import { decideLoopbackRequest } from '../../../../src/auth/loopback/decide-loopback-request.ts';
import { type Row, table } from '../decision-table.ts';
import {
  armed,
  expected,
  genuine,
  host,
  navigation,
  relayed,
  request,
  state,
  withHeaders,
} from '../loopback-fixture.ts';

const implicit = expected('implicit');
const grant = `access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`;

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
    expect(decideLoopbackRequest(implicit, armed, request('/callback/fragment'))).toMatchObject({ allow: 'POST' });
    expect(decideLoopbackRequest(implicit, armed, request('/callback', { method: 'HEAD' }))).toMatchObject({
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
