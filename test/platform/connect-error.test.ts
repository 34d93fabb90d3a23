import { expect, test } from 'vitest';
import { tlsErrorReason } from '../../src/platform/network-errors.ts';

test.each([
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
