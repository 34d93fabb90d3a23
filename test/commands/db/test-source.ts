import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { type TestHost, type TestHostOptions, testHost } from '../../fixtures/host.ts';

/** A port where nobody listens. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen();
  await close();
  return port;
}

/** A source that counts its connections and never responds. */
export async function countingSource(): Promise<{ readonly port: number; asked(): number }> {
  let asked = 0;
  const { port, close } = await listen(() => {
    asked += 1;
  });
  onTestFinished(close);
  return { port, asked: () => asked };
}

/** A machine without a profile, whose service is named by variables. */
export function dbTestHost(env: Readonly<Record<string, string>> = {}, options: TestHostOptions = {}): TestHost {
  return testHost({ ...options, env: { PGPASSWORD: 'hunter2', ...env } });
}

async function listen(onVisit: () => void = () => {}): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer((socket) => {
    onVisit();
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
