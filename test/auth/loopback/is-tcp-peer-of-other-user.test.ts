import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { isTcpPeerOfOtherUser } from '../../../src/auth/loopback/is-tcp-peer-of-other-user.ts';

const ownUid = process.getuid?.() ?? 0;

it.runIf(process.getuid !== undefined).each([
  ['this user', '127.0.0.1', ownUid, false],
  ['root', '127.0.0.1', 0, false],
  ['another user', '127.0.0.1', ownUid + 1, true],
  ['another user at the address of a network', '10.0.0.2', ownUid + 1, true],
  ['nobody knows', '127.0.0.1', undefined, undefined],
  ['a socket of this machine that is not listed', '127.0.0.1', 'refused', true],
  ['a mapped address of this machine that is not listed', '::ffff:127.0.0.1', 'refused', true],
  ['another machine, whose sockets are not listed', '10.0.0.2', 'refused', undefined],
] as const)('the other end belongs to %s', (_, remoteAddress, owner, expected) => {
  expect(isTcpPeerOfOtherUser({ remoteAddress } as Socket, () => owner)).toBe(expected);
});

it.runIf(process.getuid !== undefined)('the owner is read once for each socket', () => {
  const socket = { remoteAddress: '127.0.0.1' } as Socket;
  expect(isTcpPeerOfOtherUser(socket, () => ownUid + 1)).toBe(true);
  expect(isTcpPeerOfOtherUser(socket, () => ownUid)).toBe(true);
});
