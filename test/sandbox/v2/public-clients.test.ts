import { describe, expect, it } from 'vitest';
import {
  capturedRequests,
  documentedRequests,
  type PublicClientRequest,
} from '../../fixtures/public-client-requests.ts';
import { openRawConnection } from '../raw-connection.ts';
import { callApi, sandboxFor, tokenFor } from '../requests.ts';

interface ParsedResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends the bytes of the client and waits for the whole response. */
async function sendAs({ head, body = '' }: PublicClientRequest): Promise<ParsedResponse> {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const origin = head.includes(' /v1/') ? sandbox.ready.auth_url : sandbox.ready.base_url;
  const [droplet] = sandbox.world.droplets(sandbox.ready.users[0]?.uuid ?? '');
  const filled = head
    .replace('HOST', new URL(origin).host)
    .replace('TOKEN', access_token)
    .replace('DROPLET_ID', String(droplet?.id));
  const length = body === '' ? '' : `\nContent-Length: ${Buffer.byteLength(body)}`;
  const connection = openRawConnection(origin);
  connection.write(`${(filled + length).replaceAll('\n', '\r\n')}\r\n\r\n${body}`);
  const received = await connection.waitFor(/\r\n\r\n/);
  const announced = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  const text = await connection.waitFor(new RegExp(`\\r\\n\\r\\n[\\s\\S]{${announced}}`));
  connection.socket.destroy();
  const json = text.slice(text.indexOf('\r\n\r\n') + 4);
  return { status: Number(text.split(' ')[1]), body: json === '' ? {} : JSON.parse(json) };
}

describe('requests of public clients are answered as the clients expect', () => {
  it.each(
    [...capturedRequests, ...documentedRequests].map(
      (request) => [request.client, request.head.split('\n')[0], request] as const,
    ),
  )('%s: %s', async (_client, _line, request) => {
    const { status, body } = await sendAs(request);
    expect([status, Object.keys(body).toSorted()]).toEqual([request.status, [...request.keys].toSorted()]);
  });
});

it('a path that the sandbox does not have has another error id than a refused token', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const ids: unknown[] = [];
  for (const [token, path] of [
    [access_token, '/v2/account/keys'],
    ['no-token-of-this-sandbox', '/v2/droplets'],
  ] as const) {
    const answer = await callApi(sandbox, token, 'GET', path);
    expect(answer.status).toBe(404);
    ids.push(JSON.parse(answer.body).id);
  }
  expect(ids).toEqual(['no_such_path', 'not_found']);
});

it('volumes are ids, or objects with an id or a name; anything else is 422', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const statuses: number[] = [];
  for (const volumes of [['a'], [{ id: 'a' }], [{ name: 'a' }], [{}], [1], [{ id: 1 }], 'a', {}]) {
    const body = { name: 'a', size: '1gb', image: 'debian-12-x64', volumes };
    statuses.push((await callApi(sandbox, access_token, 'POST', '/v2/droplets', body)).status);
  }
  expect(statuses).toEqual([202, 202, 202, 422, 422, 422, 422, 422]);
});
