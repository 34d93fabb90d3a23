import { connect, createServer, type Socket } from 'node:net';

/** What becomes of a connection to a database: nothing unusual, no answer at all, or an end at its nth question. */
export type Behaviour = 'pass' | 'hang' | { readonly breakAt: number };

export interface Proxy {
  readonly port: number;
  /** The most connections that were open at once. */
  peak(): number;
  close(): Promise<void>;
}

/** Stands before a server and treats connections by the database they name in their startup message. */
export async function proxyTo(port: number, behave: (database: string) => Behaviour): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let open = 0;
  let peak = 0;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    open += 1;
    peak = Math.max(peak, open);
    client.on('close', () => {
      open -= 1;
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    upstream.pipe(client);
    let behaviour: Behaviour | undefined;
    let questions = 0;
    client.on('data', (bytes: Buffer) => {
      behaviour ??= behave(databaseIn(bytes));
      if (behaviour === 'hang') return;
      // One message a packet is what a client sends that waits for each answer.
      if (bytes[0] === 0x51) questions += 1;
      if (behaviour !== 'pass' && questions >= behaviour.breakAt) client.destroy();
      else upstream.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    peak: () => peak,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of a startup message: length, protocol, then names and values, each ended by a zero. */
function databaseIn(bytes: Buffer): string {
  const words = bytes.subarray(8).toString().split('\0');
  return words[words.indexOf('database') + 1] ?? '';
}
