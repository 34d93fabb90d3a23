import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideLoopbackRequest } from '../../../src/auth/loopback/decide-loopback-request.ts';
import { table, word } from './decision-table.ts';
import { armed, expected, genuine, host, request, taken } from './loopback-fixture.ts';

const implicit = expected('implicit');

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
        const decision = decideLoopbackRequest(setup, armed, input);
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

describe('rule 35: the start link is good for one use', () => {
  test('first', () => expect(word(request('/start/s1'))).toBe('start'));
  test('again', () => expect(word(request('/start/s1'), { kind: 'armed', started: true })).toBe('start_again'));
  test('after the login', () => expect(word(request('/start/s1'), taken)).toBe('already_started'));
  test('another word', () => expect(word(request('/start/s2'))).toBe('not_found'));
  test('HEAD does not use it up', () =>
    expect(word(request('/start/s1', { method: 'HEAD' }))).toBe('method_not_allowed'));
});
