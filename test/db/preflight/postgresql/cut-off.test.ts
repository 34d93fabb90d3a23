import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

/** Passes so many bytes of each answer on, and breaks the connection then. */
async function cutter(port: number, bytes: number): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port });
    let left = bytes;
    client.on('error', () => {}).on('close', () => upstream.destroy());
    upstream.on('error', () => {}).on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk.subarray(0, Math.max(0, left)));
      left -= chunk.length;
      if (left < 0) client.destroySoon();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

// A whole session with an empty server is some five thousand bytes.
test.each([0, 100, 1000, 1500, 3000])(
  'a way to the server that breaks after %i bytes of each connection promises nothing',
  async (bytes) => {
    const server = await startPostgres({ version: 15, settings: ready });
    const report = await preflightServer({ ...server, port: await cutter(server.port, bytes) });
    expect(report.verdict).toBe('blocked');
    expect(report.ok).toBe(false);
  },
  60_000,
);
