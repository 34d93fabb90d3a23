import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where a connection to the store is cut. `before`: half of the message has arrived; `after`: it has, its reply is lost. */
export interface CutPlace {
  readonly operation: 'claim' | 'commit';
  readonly side: 'before' | 'after';
}

export interface StoreRelay {
  /** The URL of the store with the address of the relay. */
  readonly url: string;
  /** Cuts the connection at the next `times` of these operations. */
  cut(place: CutPlace, times: number): void;
  /** How many connections were cut since `cut`. */
  cuts(): number;
  /** Cuts no more. */
  mend(): void;
}

/** What the message of an operation contains, in SQL and in Lua. */
const marks = {
  claim: ['cloudctl_share.claim_session(', "log('claim'"],
  commit: ['cloudctl_share.commit_session(', 'new_epoch'],
} as const;

/** Stands between the machines and the store. */
export async function startStoreRelay(storeUrl: string): Promise<StoreRelay> {
  const target = new URL(storeUrl);
  const sockets = new Set<Socket>();
  let place: CutPlace | undefined;
  let [left, cuts] = [0, 0];
  /** Whether this is a message at which to cut. */
  const takeCut = (sent: Buffer): CutPlace['side'] | undefined => {
    if (place === undefined || left === 0 || !marks[place.operation].some((mark) => sent.includes(mark)))
      return undefined;
    left -= 1;
    cuts += 1;
    return place.side;
  };
  const server = createServer((client) => {
    const upstream = keep(connect(Number(target.port), target.hostname), sockets);
    keep(client, sockets).on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    let isReplyLost = false;
    client.on('data', (sent: Buffer) => {
      const side = takeCut(sent);
      if (side === 'before') upstream.write(sent.subarray(0, sent.length / 2), cut);
      else upstream.write(sent);
      isReplyLost ||= side === 'after';
    });
    upstream.on('data', (reply: Buffer) => {
      if (isReplyLost) cut();
      else client.write(reply);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(storeUrl);
  url.port = String(address.port);
  return {
    url: url.href,
    cut(at, times) {
      [place, left, cuts] = [at, times, 0];
    },
    cuts: () => cuts,
    mend() {
      left = 0;
    },
  };
}

function keep(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
  return socket;
}
