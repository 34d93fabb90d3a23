import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { dbTestHost } from '../commands/db/test-source.ts';
import { startCloudctl } from '../commands/run-cloudctl.ts';

/** The port of a server that takes connections and never says a word. */
async function mutePort(): Promise<{ readonly port: number; readonly met: Promise<void> }> {
  const server = createServer();
  const met = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      onTestFinished(() => void socket.destroy());
      resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, met };
}

it.each([
  ['preflight', 'postgres', 'SIGINT', 130],
  ['preflight', 'postgres', 'SIGTERM', 143],
  ['preflight', 'redis', 'SIGTERM', 143],
  ['sequences', 'postgres', 'SIGINT', 130],
  ['sequences', 'postgres', 'SIGTERM', 143],
  ['rehearse', 'postgres', 'SIGINT', 130],
  ['rehearse', 'redis', 'SIGTERM', 143],
] as const)(
  'db %s of %s ends with %s as exit %d, while it waits for the source',
  async (command, scheme, signal, exit) => {
    const { port, met } = await mutePort();
    const address =
      scheme === 'redis' ? `redis://127.0.0.1:${port}` : `postgres://u@127.0.0.1:${port}/d?sslmode=disable`;
    const into = command === 'rehearse' ? ['--into', address, '--yes'] : [];
    const running = startCloudctl(dbTestHost(), ['db', command, '--source', address, ...into, '-o', 'json']);
    await met;
    running.host.signal(signal);
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: exit, out: '' });
    expect(ran.error()).toMatchObject({ code: 'cancelled', exit_code: exit });
    expect(running.host.signal(signal)).toBe(0);
  },
  // A connection that is not given up is waited for ten seconds.
  8_000,
);
