import { expect, it } from 'vitest';
import { decodeKeychainHelperReply } from '../../src/platform/keychain-wire.ts';

it.each([
  { kind: 'found', value: 'x' },
  { kind: 'absent' },
  { kind: 'done' },
  { kind: 'unavailable', why: 'locked', reason: 'because' },
])('a reply of the helper is decoded: %j', (reply) => {
  expect(decodeKeychainHelperReply(JSON.stringify({ ...reply, more: 1 }))).toEqual(reply);
});

it.each([
  '',
  'null',
  '{"kind":"found"}',
  '{"kind":"found","value":7}',
  '{"kind":"unavailable","why":"bored","reason":"x"}',
  '{"kind":"unavailable","why":"hung"}',
  '{"kind":"new"}',
  'Segmentation fault',
])('what is no reply is never taken for absent: %s', (line) => {
  expect(decodeKeychainHelperReply(line)).toBeUndefined();
});
