import type { Socket } from 'node:net';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { readTcpPeerUserId } from '../../platform/socket-owner.ts';

/**
 * Whether the other end of a socket belongs to a user other than root and the user of this process; the owner is read once for
 * each socket. @param readOwner a test replaces it
 */
export function isTcpPeerOfOtherUser(socket: Socket, readOwner = readTcpPeerUserId): boolean | undefined {
  const ownUid = process.getuid?.();
  if (ownUid === undefined) return undefined;
  const owner = socketOwners.has(socket) ? socketOwners.get(socket) : readOwner(socket);
  socketOwners.set(socket, owner);
  // The kernel of this machine does not list sockets of another machine or container.
  if (owner === 'refused' && !isLoopbackPeer(socket.remoteAddress)) return undefined;
  return owner === undefined ? undefined : owner !== ownUid && owner !== 0;
}

const socketOwners = new WeakMap<Socket, ReturnType<typeof readTcpPeerUserId>>();
