import { type AddressInfo, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { type TestHost, type TestHostOptions, testHost } from '../../fixtures/host.ts';

/** A source that counts its connections and never responds. */
export async function countingSource(): Promise<{ readonly port: number; asked(): number }> {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.address() as AddressInfo).port, asked: () => asked };
}

/** A machine without a profile, whose service is named by variables. */
export function dbTestHost(env: Readonly<Record<string, string>> = {}, options: TestHostOptions = {}): TestHost {
  return testHost({ ...options, env: { PGPASSWORD: 'hunter2', ...env } });
}
