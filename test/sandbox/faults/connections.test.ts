import { describe, expect, it } from 'vitest';
import type { FaultActionName } from '../../../src/sandbox/faults/fault.ts';
import { exchange, openRawConnection, requestBytes } from '../raw-connection.ts';
import { admin, callApi, grantFor, refreshWith, sandboxFor, tokenFor } from '../requests.ts';

const PATH = '/v2/droplets';
const BODY = JSON.stringify({ name: 'one', size: '1gb', image: 'debian-12-x64' });

async function openFixture() {
  const sandbox = await sandboxFor();
  const { access_token, refresh_token } = await tokenFor(sandbox);
  const { base_url } = sandbox.ready;
  const headers = { authorization: `Bearer ${access_token}` };
  const create = requestBytes(base_url, 'POST', PATH, { ...headers, 'content-type': 'application/json' }, BODY);
  const list = requestBytes(base_url, 'GET', PATH, headers);
  return { sandbox, access_token, refresh_token, base_url, create, list };
}

describe('a persistent connection', () => {
  it('serves requests until the fault applies, and is closed then', async () => {
    const { sandbox, base_url, create, list } = await openFixture();
    sandbox.faults.add({ match: { path: PATH }, action: 'reset', nth: 3 });
    const line = openRawConnection(base_url);
    line.write(list);
    await line.waitFor(/"total":3\}\}$/);
    line.write(create);
    await line.waitFor(/202 Accepted[\s\S]*\}\]\}\}$/);
    line.write(list);
    expect((await line.closed).end).toBe('reset');
    expect((await callApi(sandbox, (await tokenFor(sandbox)).access_token, 'GET', PATH)).status).toBe(200);
  });

  it.each<FaultActionName>(['status', 'html_502', 'bad_json', 'rate_limit', 'redirect_307'])(
    'goes on after %s, which is a whole answer',
    async (action) => {
      const { sandbox, base_url, list } = await openFixture();
      sandbox.faults.add({ match: { path: PATH }, action });
      const line = openRawConnection(base_url);
      line.write(list);
      await line.waitFor(/\r\n\r\n/);
      line.write(list);
      await line.waitFor(/"total":3\}\}$/);
      line.socket.destroy();
    },
  );
});

describe('pipelined requests', () => {
  it.each<[FaultActionName, number]>([
    ['drop_before_commit', 0],
    ['commit_then_drop', 1],
    ['reset', 0],
    ['half_body', 1],
    ['slow_drip', 1],
  ])('a pipelined request after %s is not carried out', async (action, committed) => {
    const { sandbox, base_url, create, list } = await openFixture();
    sandbox.faults.add({ match: { method: 'POST' }, action, delay: 1 });
    const { text } = await exchange(base_url, list + create + create + list);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    const [person] = sandbox.ready.users;
    expect(sandbox.world.droplets(person?.uuid ?? '')).toHaveLength(3 + committed);
    expect(sandbox.requests(`POST ${PATH}`)).toHaveLength(1);
  });

  it('a pipelined request after a delayed one is answered after it', async () => {
    const { sandbox, base_url, create, list } = await openFixture();
    sandbox.faults.add({ match: { method: 'POST' }, action: 'delay', delay: 40 });
    const line = openRawConnection(base_url);
    line.write(create + list + list);
    const text = await line.waitFor(/"total":4[\s\S]*"total":4\}\}$/);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 202', 'HTTP/1.1 200', 'HTTP/1.1 200']);
    line.socket.destroy();
  });
});

describe('concurrent requests', () => {
  it('a fault with times 1 applies to exactly one of several concurrent requests', async () => {
    const { sandbox, base_url, create } = await openFixture();
    sandbox.faults.add({ match: { path: PATH }, action: 'reset' });
    const lines = Array.from({ length: 8 }, () => openRawConnection(base_url));
    for (const line of lines) line.write(create);
    const ends = await Promise.all(
      lines.map((line) =>
        line.waitFor(/202 Accepted/).then(
          () => 'answered',
          async () => (await line.closed).end,
        ),
      ),
    );
    for (const line of lines) line.socket.destroy();
    expect(ends.filter((end) => end === 'reset')).toHaveLength(1);
    expect(sandbox.faults.list()).toMatchObject([{ matched: 8, applied: 1, remaining: 0 }]);
    expect(sandbox.world.droplets(sandbox.ready.users[0]?.uuid ?? '')).toHaveLength(10);
  });

  it('a delayed request does not delay other connections', async () => {
    const { sandbox, base_url, create, list } = await openFixture();
    sandbox.faults.add({ match: { method: 'POST' }, action: 'delay', delay: 600_000 });
    const waiting = openRawConnection(base_url);
    waiting.write(create);
    const other = openRawConnection(base_url);
    other.write(list);
    await other.waitFor(/"total":3/);
    waiting.socket.destroy();
    other.socket.destroy();
  });
});

describe('a refresh whose response is lost', () => {
  it('has used up the refresh token, and the log reports it', async () => {
    const sandbox = await sandboxFor();
    const { refresh_token, access_token } = await grantFor(sandbox);
    sandbox.faults.add({ match: { grant_type: 'refresh_token' }, action: 'commit_then_drop' });
    await expect(refreshWith(sandbox, refresh_token)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await refreshWith(sandbox, refresh_token)).status).toBe(400);
    expect((await callApi(sandbox, access_token, 'GET', PATH)).status).toBe(404);
    const refreshes = sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token');
    const token_hint = refresh_token.slice(-4);
    expect(refreshes).toMatchObject([
      { status: 200, token_hint, fault: 'commit_then_drop', committed: true, delivered: false },
      { status: 400, token_hint },
    ]);
    expect(refreshes[1]).not.toHaveProperty('fault');
  });

  it('a fault for refreshes does not apply to code exchanges', async () => {
    const sandbox = await sandboxFor();
    sandbox.faults.add({ match: { path: '/v1/oauth/token', grant_type: 'refresh_token' }, action: 'reset' });
    expect((await grantFor(sandbox)).token_type).toBe('bearer');
    expect(sandbox.faults.list()).toMatchObject([{ matched: 0 }]);
  });
});

it('faults do not apply to the admin API, so that they can always be cleared', async () => {
  const { sandbox, list, base_url } = await openFixture();
  sandbox.faults.add({ match: { path: '*' }, action: 'reset', times: 100 });
  expect((await exchange(base_url, list)).end).toBe('reset');
  expect((await admin(sandbox, 'DELETE', '/_sandbox/faults')).status).toBe(204);
  const line = openRawConnection(base_url);
  line.write(list);
  await line.waitFor(/"total":3/);
  line.socket.destroy();
});
