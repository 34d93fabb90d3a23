import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A server that says `words` to everybody (undefined: +OK to each command) and tells what it heard. */
export async function listen(work: (port: number) => Promise<void>, words?: string): Promise<string> {
  let heard = '';
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    if (words !== undefined && words !== '') socket.write(words, 'latin1');
    socket.on('data', (data) => {
      heard += data.toString('utf8');
      if (words === undefined) socket.write('+OK\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  try {
    await work(typeof address === 'object' && address !== null ? address.port : 0);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
  return heard;
}
