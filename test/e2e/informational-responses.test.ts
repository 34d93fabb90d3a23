import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../fixtures/cli.ts';
import { makeFolders } from '../fixtures/folders.ts';

/** A server that sends these bytes before its response to each request, on connections that stay open. */
async function serverSending(informational: string): Promise<{ readonly origin: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      requests.push(text);
      text = '';
      const body = '{"droplets":[],"meta":{"total":0}}';
      socket.write(
        `${informational}HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test.each([
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['several', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nx: y\r\n\r\n'],
])(
  'a response after unexpected informational responses is read, and the request is sent once: %s',
  async (_, bytes) => {
    const { origin, requests } = await serverSending(bytes);
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const env = { CLOUDCTL_ACCESS_TOKEN: 'at-1', CLOUDCTL_AUTH_URL: origin, CLOUDCTL_BASE_URL: origin };
    for (const method of ['POST', 'GET']) {
      const data = method === 'POST' ? ['--data', '{}'] : [];
      const ran = await run(['api', method, '/v2/droplets', ...data], { folders, env });
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(ran.json()).toMatchObject({ meta: { total: 0 } });
    }
    expect(requests.map((text) => text.split(' ', 1)[0])).toEqual(['POST', 'GET']);
  },
);
