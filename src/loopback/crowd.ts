import type { Socket } from 'node:net';

/** The open sockets of the helper. There is no limit on connecting: above `limit` the one silent longest is destroyed. */
export interface Crowd {
  admit(socket: Socket): void;
  /** The socket is silent because we owe it an answer: it goes last. */
  owe(socket: Socket): void;
  disperse(): void;
}

export function createCrowd(limit: number, now: () => number): Crowd {
  const members = new Map<Socket, Member>();
  return {
    admit(socket) {
      members.set(socket, { heardAt: now(), bytes: socket.bytesRead, owed: false });
      socket.once('close', () => members.delete(socket));
      if (members.size > limit) {
        listen(members, now());
        silentLongest(members)?.destroy();
      }
    },
    owe(socket) {
      const member = members.get(socket);
      if (member !== undefined) {
        member.owed = true;
      }
    },
    disperse() {
      for (const socket of members.keys()) {
        socket.destroy();
      }
    },
  };
}

interface Member {
  heardAt: number;
  bytes: number;
  owed: boolean;
}

// A `data` listener would take the socket away from the parser's fast path, so the byte counts are compared instead.
function listen(members: ReadonlyMap<Socket, Member>, at: number): void {
  for (const [socket, member] of members) {
    if (socket.bytesRead !== member.bytes) {
      member.bytes = socket.bytesRead;
      member.heardAt = at;
    }
  }
}

/** Among equals the one that came first; one we owe an answer only when nobody else is left. */
function silentLongest(members: ReadonlyMap<Socket, Member>): Socket | undefined {
  let longest: readonly [Socket, Member] | undefined;
  for (const entry of members) {
    const [, member] = entry;
    if (longest === undefined || rank(member) < rank(longest[1])) {
      longest = entry;
    }
  }
  return longest?.[0];
}

function rank(member: Member): number {
  return member.owed ? Number.POSITIVE_INFINITY : member.heardAt;
}
