// Runs in a network namespace: `forward-ports.mjs ADDRESS PORT…` accepts connections to 127.0.0.1:PORT there and passes them on
// to the same port of ADDRESS. The program under test connects without TLS to loopback addresses only. Prints a line when ready.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const [address, ...ports] = process.argv.slice(2);
for (const port of ports.map(Number)) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ host: address, port, allowHalfOpen: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ]) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
}
console.log('ready');
