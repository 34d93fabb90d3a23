import type { Socket } from 'node:net';

/**
 * Tracks the open sockets of the loopback server. When more than `limit` sockets are open, the socket with the longest
 * inactivity is destroyed.
 */
export interface SocketLimiter {
  add(socket: Socket): void;
  /** Marks a socket that waits for a response, so that it is destroyed last. */
  markPending(socket: Socket): void;
  destroyAll(): void;
}

export function createSocketLimiter(limit: number, now: () => number): SocketLimiter {
  const members = new Map<Socket, SocketActivity>();
  return {
    add(socket) {
      members.set(socket, { lastActiveAt: now(), bytes: socket.bytesRead, isPending: false });
      socket.once('close', () => members.delete(socket));
      if (members.size > limit) {
        updateActivity(members, now());
        longestInactive(members)?.destroy();
      }
    },
    markPending(socket) {
      const member = members.get(socket);
      if (member !== undefined) {
        member.isPending = true;
      }
    },
    destroyAll() {
      for (const socket of members.keys()) {
        socket.destroy();
      }
    },
  };
}

interface SocketActivity {
  lastActiveAt: number;
  bytes: number;
  isPending: boolean;
}

// A `data` listener on the socket would disable the fast path of Node's HTTP parser, so received byte counts are compared
// instead.
function updateActivity(members: ReadonlyMap<Socket, SocketActivity>, at: number): void {
  for (const [socket, member] of members) {
    if (socket.bytesRead !== member.bytes) {
      member.bytes = socket.bytesRead;
      member.lastActiveAt = at;
    }
  }
}

/**
 * Selects the socket to destroy: the one with the longest inactivity, and the first of several with the same time. A socket
 * that waits for a response is selected only if all sockets wait for one.
 */
function longestInactive(members: ReadonlyMap<Socket, SocketActivity>): Socket | undefined {
  let longest: readonly [Socket, SocketActivity] | undefined;
  for (const entry of members) {
    const [, member] = entry;
    if (longest === undefined || evictionRank(member) < evictionRank(longest[1])) {
      longest = entry;
    }
  }
  return longest?.[0];
}

function evictionRank(member: SocketActivity): number {
  return member.isPending ? Number.POSITIVE_INFINITY : member.lastActiveAt;
}
