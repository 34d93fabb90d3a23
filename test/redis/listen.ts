import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

type Answering = (heard: string) => string;

/**
 * A server that says `words` to everybody (undefined: +OK to whatever comes; a function: its answer to that) and tells
 * what it heard.
 */
export async function listen(work: (port: number) => Promise<void>, words?: string | Answering): Promise<string> {
  const answer: Answering = typeof words === 'function' ? words : () => (words === undefined ? '+OK\r\n' : '');
  let heard = '';
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    if (typeof words === 'string' && words !== '') socket.write(words, 'latin1');
    socket.on('data', (data) => {
      const said = data.toString('utf8');
      heard += said;
      const reply = answer(said);
      if (reply !== '') socket.write(reply, 'latin1');
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
