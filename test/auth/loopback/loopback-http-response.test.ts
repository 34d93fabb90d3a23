import { expect, test } from 'vitest';
import {
  buildLoopbackJsonResponse,
  buildLoopbackPageResponse,
  buildLoopbackRedirectResponse,
  buildLoopbackRefusalResponse,
  serializeLoopbackResponse,
} from '../../../src/auth/loopback/loopback-http-response.ts';
import { renderLoginOutcomePage } from '../../../src/auth/loopback/outcome-page.ts';
import { buildLoopbackHttpMethodRefusal, buildLoopbackRefusal } from '../../../src/auth/loopback/refusal.ts';

const answers = [
  buildLoopbackPageResponse(renderLoginOutcomePage({ kind: 'signed_in', name: 'Zoë' })),
  buildLoopbackRefusalResponse(buildLoopbackRefusal('not_found')),
  buildLoopbackRefusalResponse(buildLoopbackHttpMethodRefusal('GET')),
  buildLoopbackRedirectResponse('/done/x'),
  buildLoopbackJsonResponse({ next: '/done/x' }),
];

test('rules 11 and 27: every answer carries the same protecting headers, and none lets another origin read it', () => {
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'Content-Security-Policy': expect.stringMatching(
        /^default-src 'none'.*form-action 'none'; frame-ancestors 'none'$/,
      ),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Connection: 'close',
    });
    expect(Object.keys(headers).join(' ').toLowerCase()).not.toContain('access-control');
  }
});

test('the length is counted in bytes', () => {
  for (const { headers, body } of answers) {
    expect(headers['Content-Length']).toBe(String(Buffer.byteLength(body)));
  }
});

test('405 names the allowed method', () => {
  expect(answers.map(({ headers }) => headers.Allow)).toEqual([undefined, undefined, 'GET', undefined, undefined]);
});

test('an answer by hand is the same answer on the wire', () => {
  const raw = serializeLoopbackResponse(buildLoopbackRedirectResponse('/done/x'));
  expect(raw).toMatch(/^HTTP\/1\.1 303 See Other\r\n/);
  expect(raw).toContain('\r\nLocation: /done/x\r\n');
  expect(raw.endsWith('\r\n\r\n')).toBe(true);
});
