import { describe, expect, it } from 'vitest';
import {
  describeCode,
  networkSendError,
  readErrorCode,
  tlsErrorReason,
  tlsSendError,
} from '../../src/platform/network-errors.ts';
import { expectGolden } from '../fixtures/golden.ts';

const failed = (parts: object) => Object.assign(new Error('words with https://host/?code=hunter2'), parts);

describe('a connection that did not come about', () => {
  it.each([
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'name'],
    [{ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }, 'name'],
    [{ code: 'ECONNREFUSED', syscall: 'connect' }, 'refused'],
    [{ code: 'ETIMEDOUT', syscall: 'connect' }, 'timeout'],
    [{ code: 'ENETUNREACH', syscall: 'connect' }, 'connection'],
    [{ code: 'EWHATEVER' }, 'connection'],
    [{}, 'connection'],
  ])('%j is described without the message of the library', (parts, kind) => {
    const failure = networkSendError(failed(parts), 'x');
    expect(failure).toMatchObject({ kind, sent: false });
    expectGolden('errors', failure.message);
  });

  it.each([
    ['ERR_SSL_WRONG_VERSION_NUMBER', true],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', true],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', false],
  ])('by TLS with %s is told as a port without TLS, or is not: %s', (code, noTls) => {
    const failure = tlsSendError(failed({ code }), 'x');
    expect(failure).toMatchObject({ kind: 'tls', sent: false });
    expect(failure.noTls).toBe(noTls);
  });

  it('by TLS is told in the short words of OpenSSL, cleaned', () => {
    expect(tlsSendError(failed({ reason: 'bad record mac' }), 'x').message).toBe('x: bad record mac');
    expectGolden('errors', tlsSendError(failed({ code: 'ECONNRESET' }), 'x').message);
    expect(tlsSendError(new Error('other altnames: DNS:\u001b[2Jy'), 'x')).toMatchObject({
      kind: 'tls',
      sent: false,
      message: 'x: other altnames: DNS:y',
    });
  });
});

it('only a code of text counts as one', () => {
  expect([
    readErrorCode(failed({ code: 'E1' })),
    readErrorCode(failed({ code: 7 })),
    readErrorCode('E1'),
    readErrorCode(undefined),
  ]).toEqual(['E1', undefined, undefined, undefined]);
  expect(describeCode('UND_ERR_SOCKET')).toBe(describeCode('ECONNRESET'));
});

it.each([
  [
    'the function and the source file of OpenSSL are removed',
    new Error('C0F1:error:0A000126:SSL routines:ssl3_read_n:unexpected eof while reading:rec_layer_s3.c:317:'),
    'unexpected eof while reading',
  ],
  [
    'a reason wins over the message',
    Object.assign(new Error('write EPROTO'), { reason: 'no shared cipher' }),
    'no shared cipher',
  ],
  ['a message without structure stays', new Error('self-signed certificate'), 'self-signed certificate'],
  ['control characters are removed', new Error('bad\u0007name'), 'badname'],
  ['a value that is not an error becomes text', 'closed', 'closed'],
])('%s', (_rule, error, reason) => {
  expect(tlsErrorReason(error)).toBe(reason);
});

it.each(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'])('%s has words of its own', (code) => {
  expect(describeCode(code)).not.toContain(code);
});
