import { describe, expect, it } from 'vitest';
import type { ActionName, FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { exchange, openRawConnection, type ReceivedBytes, requestBytes } from '../raw-connection.ts';
import { admin, callApi, errorOf, grantFor, refreshWith, sandboxFor, send, tokenFor } from '../requests.ts';

const PATH = '/v2/droplets';

const path = '/v2/droplets';
interface DropletList {
  readonly droplets: readonly { readonly id: number }[];
  readonly meta: { readonly total: number };
  readonly links: object;
}

const ALIASES = { size: '1gb', image: 'ubuntu-22-04-x64', region: 'nyc1', tags: ['t'] };

async function getJson(sandbox: SandboxServers, token: string, target: string): Promise<DropletList> {
  return JSON.parse((await callApi(sandbox, token, 'GET', target)).body);
}

describe('normalize_attributes', () => {
  it('a creation stores other values than were sent, and shows them', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'normalize_attributes' });
    const created = await callApi(sandbox, access_token, 'POST', path, { names: ['a', 'b'], ...ALIASES });
    expect(created.status).toBe(202);
    const stored = { size_slug: 's-1vcpu-1gb', region: { slug: 'nyc3' }, image: { slug: 'ubuntu-24-04-x64' } };
    expect(JSON.parse(created.body).droplets).toMatchObject([stored, stored]);
    expect((await getJson(sandbox, access_token, `${path}?tag_name=t`)).droplets).toMatchObject([stored, stored]);
    expect(sandbox.requests(`POST ${path}`)).toMatchObject([{ fault: 'normalize_attributes', committed: true }]);
    const next = await callApi(sandbox, access_token, 'POST', path, { name: 'c', ...ALIASES });
    expect(JSON.parse(next.body).droplet).toMatchObject({ size_slug: '1gb', region: { slug: 'nyc1' } });
  });

  it('applies in addition to a fault that loses the response', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'normalize_attributes' });
    sandbox.faults.add({ match: { method: 'POST', path }, action: 'bad_json' });
    await callApi(sandbox, access_token, 'POST', path, { name: 'a', ...ALIASES });
    expect((await getJson(sandbox, access_token, `${path}?name=a`)).droplets).toMatchObject([
      { region: { slug: 'nyc3' } },
    ]);
    expect(sandbox.requests(`POST ${path}`)).toMatchObject([{ fault: 'bad_json', committed: true }]);
  });
});

describe('lag_lists', () => {
  it('lists show a droplet, by name, tag and as a whole, once it is old enough; GET by id shows it at once', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    sandbox.faults.add({ match: { method: 'GET', path }, action: 'lag_lists', delay: 10_000, times: 6 });
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 20_000 });
    const { droplet } = JSON.parse(
      (await callApi(sandbox, access_token, 'POST', path, { name: 'new', ...ALIASES })).body,
    );
    const lists = async (): Promise<readonly unknown[]> => {
      const answers = [];
      for (const query of ['?name=new', '?tag_name=t', '?per_page=3']) {
        const { droplets, meta, links } = await getJson(sandbox, access_token, `${path}${query}`);
        answers.push([droplets.filter(({ id }) => id === droplet.id).length, meta.total, links]);
      }
      return answers;
    };
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 9_999 });
    expect(await lists()).toEqual([
      [0, 0, {}],
      [0, 0, {}],
      [0, 3, {}],
    ]);
    expect((await callApi(sandbox, access_token, 'GET', `${path}/${droplet.id}`)).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 1 });
    expect(await lists()).toMatchObject([
      [1, 1, {}],
      [1, 1, {}],
      [0, 4, { pages: {} }],
    ]);
    expect(sandbox.faults.list()).toMatchObject([{ applied: 6, remaining: 0 }]);
  });

  it('without the fault a list is complete, also when the clock was moved back', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    await callApi(sandbox, access_token, 'POST', path, { name: 'new', ...ALIASES });
    await admin(sandbox, 'POST', '/_sandbox/clock', { set: '2020-01-01T00:00:00Z' });
    const { access_token: other } = await tokenFor(sandbox);
    expect((await getJson(sandbox, other, path)).meta.total).toBe(4);
  });
});

describe('actions', () => {
  interface Fixture {
    readonly sandbox: SandboxServers;
    readonly bearer: string;
    /** The bytes that create a droplet. */
    readonly create: string;
    readonly total: () => Promise<number>;
  }

  async function openFixture(
    fault: Omit<FaultSpec, 'match'>,
    match: FaultSpec['match'] = { method: 'POST', path: PATH },
  ): Promise<Fixture> {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match, ...fault });
    return {
      sandbox,
      bearer: access_token,
      create: creation(sandbox, access_token, 'one'),
      total: async () => JSON.parse((await callApi(sandbox, access_token, 'GET', PATH)).body).meta.total,
    };
  }

  function creation({ ready }: SandboxServers, accessToken: string, name: string): string {
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    return requestBytes(
      ready.base_url,
      'POST',
      PATH,
      headers,
      JSON.stringify({ name, size: '1gb', image: 'debian-12-x64' }),
    );
  }

  function lastOf(sandbox: SandboxServers): object | undefined {
    return sandbox.requests(`POST ${PATH}`).at(-1);
  }

  function bodyOf({ text }: ReceivedBytes): string {
    return text.slice(text.indexOf('\r\n\r\n') + 4);
  }

  function lengthOf({ text }: ReceivedBytes): number {
    return Number(/content-length: (\d+)/i.exec(text)?.[1]);
  }

  /** Resolves when the first response is complete. */
  async function oneAnswer(origin: string, bytes: string): Promise<ReceivedBytes> {
    const line = openRawConnection(origin);
    line.write(bytes);
    const head = await line.waitFor(/\r\n\r\n/);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const text = await line.waitFor(new RegExp(`\\r\\n\\r\\n[\\s\\S]{${length}}`));
    line.socket.destroy();
    return { text, chunks: [], end: 'open' };
  }

  describe('actions that close the connection', () => {
    it('drop_before_commit: no byte is sent, and the request was not carried out', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'drop_before_commit' });
      expect(await exchange(sandbox.ready.base_url, create)).toEqual({ text: '', chunks: [], end: 'closed' });
      expect(lastOf(sandbox)).toMatchObject({
        status: 0,
        fault: 'drop_before_commit',
        committed: false,
        delivered: false,
      });
      expect(await total()).toBe(3);
    });

    it('commit_then_drop: no byte is sent, and the request was carried out', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'commit_then_drop' });
      expect(await exchange(sandbox.ready.base_url, create)).toEqual({ text: '', chunks: [], end: 'closed' });
      expect(lastOf(sandbox)).toMatchObject({
        status: 202,
        fault: 'commit_then_drop',
        committed: true,
        delivered: false,
      });
      expect(await total()).toBe(4);
    });

    it('reset: a TCP RST, and the request was not carried out', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'reset' });
      expect(await exchange(sandbox.ready.base_url, create)).toEqual({ text: '', chunks: [], end: 'reset' });
      expect(lastOf(sandbox)).toMatchObject({ status: 0, fault: 'reset', committed: false, delivered: false });
      expect(await total()).toBe(3);
    });

    it('half_body: the length of the whole body and half of its bytes; the request was carried out', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'half_body' });
      const wire = await exchange(sandbox.ready.base_url, create);
      expect(wire.text).toMatch(/^HTTP\/1\.1 202 Accepted\r\n/);
      expect(wire.end).toBe('closed');
      expect(bodyOf(wire).length).toBe(Math.floor(lengthOf(wire) / 2));
      expect(lastOf(sandbox)).toMatchObject({ status: 202, fault: 'half_body', committed: true, delivered: false });
      expect(await total()).toBe(4);
    });

    it('half_body of a response without a body ends in the middle of its head', async () => {
      const { sandbox, bearer } = await openFixture({ action: 'half_body', times: 2 }, { path: '/v2/*' });
      for (const method of ['HEAD', 'DELETE']) {
        const [droplet] = sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '');
        const path = `${PATH}/${droplet?.id}`;
        const wire = await exchange(
          sandbox.ready.base_url,
          requestBytes(sandbox.ready.base_url, method, path, { authorization: `Bearer ${bearer}` }),
        );
        expect([method, wire.end]).toEqual([method, 'closed']);
        expect(wire.text).toMatch(/^HTTP\/1\.1 20[04] /);
        expect(wire.text).not.toContain('\r\n\r\n');
      }
      expect(sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '')).toHaveLength(2);
    });
  });

  describe('actions that change the response', () => {
    it('bad_json: the length matches, the body is not JSON', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'bad_json' });
      const wire = await oneAnswer(sandbox.ready.base_url, create);
      expect(wire.text).toMatch(/^HTTP\/1\.1 202 /);
      expect(wire.text).toMatch(/content-type: application\/json/i);
      expect(() => JSON.parse(bodyOf(wire))).toThrow(SyntaxError);
      expect(lastOf(sandbox)).toMatchObject({ status: 202, fault: 'bad_json', committed: true, delivered: true });
      expect(await total()).toBe(4);
    });

    it.each(['{}', ''])('bad_json of the body %j is not JSON', async (body) => {
      const { sandbox, bearer } = await openFixture(
        { action: 'bad_json' },
        { method: body === '' ? 'DELETE' : 'POST', path: '*' },
      );
      const [droplet] = sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '');
      const answer =
        body === ''
          ? await callApi(sandbox, bearer, 'DELETE', `${PATH}/${droplet?.id}`)
          : await send(sandbox.ready.auth_url, `/v1/oauth/revoke?token=${bearer}`, { method: 'POST' });
      expect(answer.status).toBe(200);
      expect(() => JSON.parse(answer.body)).toThrow(SyntaxError);
      expect(answer.body).not.toBe('');
    });

    it('slow_drip: sends every byte separately', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'slow_drip', delay: 1 });
      const wire = await exchange(sandbox.ready.base_url, create);
      expect(wire.end).toBe('closed');
      expect(JSON.parse(bodyOf(wire)).droplet.name).toBe('one');
      // A busy test process may read several bytes at once; a response sent as a whole would be one or two chunks.
      expect(wire.chunks.length).toBeGreaterThan(50);
      expect(lastOf(sandbox)).toMatchObject({ status: 202, fault: 'slow_drip', committed: true, delivered: true });
      expect(await total()).toBe(4);
    });

    it('slow_drip ends when the client disconnects, and is logged as not delivered', async () => {
      const { sandbox, create } = await openFixture({ action: 'slow_drip' });
      const line = openRawConnection(sandbox.ready.base_url);
      line.write(create);
      await line.waitFor(/^HTTP/);
      line.socket.destroy();
      await line.closed;
      expect(lastOf(sandbox)).toMatchObject({ committed: true, delivered: false });
    });

    it('delay: the unchanged response, after the delay', async () => {
      const { sandbox, create } = await openFixture({ action: 'delay', delay: 60 });
      const started = performance.now();
      const wire = await oneAnswer(sandbox.ready.base_url, create);
      expect(performance.now() - started).toBeGreaterThanOrEqual(59);
      expect(wire.text).toMatch(/^HTTP\/1\.1 202 /);
      expect(lastOf(sandbox)).toMatchObject({ status: 202, fault: 'delay', committed: true, delivered: true });
    });

    it('a delayed request is carried out even if its client disconnects', async () => {
      const { sandbox, create } = await openFixture({ action: 'delay', delay: 80 });
      const line = openRawConnection(sandbox.ready.base_url);
      line.write(create);
      await new Promise((resolve) => setTimeout(resolve, 30));
      line.socket.destroy();
      while (lastOf(sandbox) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(lastOf(sandbox)).toMatchObject({ status: 202, committed: true, delivered: false });
    });

    it('closing the sandbox ends a delay, and the request is not carried out', async () => {
      const { sandbox, create } = await openFixture({ action: 'delay', delay: 600_000 });
      const wire = exchange(sandbox.ready.base_url, create);
      while (sandbox.faults.list()[0]?.applied === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await sandbox.close();
      expect((await wire).text).toBe('');
      expect(lastOf(sandbox)).toBeUndefined();
      expect(sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '')).toHaveLength(3);
    });
  });

  describe('commit_late', () => {
    it('no byte is sent, and the request is carried out after the delay', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'commit_late', delay: 60 });
      expect(await exchange(sandbox.ready.base_url, create)).toEqual({ text: '', chunks: [], end: 'closed' });
      expect([lastOf(sandbox), await total()]).toEqual([undefined, 3]);
      while (lastOf(sandbox) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(lastOf(sandbox)).toMatchObject({ status: 202, fault: 'commit_late', committed: true, delivered: false });
      expect(await total()).toBe(4);
    });

    it('the token counts as of the arrival of the request', async () => {
      const { sandbox, bearer, create } = await openFixture({ action: 'commit_late', delay: 60 });
      await exchange(sandbox.ready.base_url, create);
      await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: bearer });
      expect((await callApi(sandbox, bearer, 'GET', PATH)).status).toBe(404);
      while (lastOf(sandbox) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(lastOf(sandbox)).toMatchObject({ status: 202, committed: true });
    });

    it('closing the sandbox ends the delay, and the request is not carried out', async () => {
      const { sandbox, create } = await openFixture({ action: 'commit_late', delay: 600_000 });
      await exchange(sandbox.ready.base_url, create);
      await sandbox.close();
      expect(lastOf(sandbox)).toBeUndefined();
      expect(sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '')).toHaveLength(3);
    });
  });

  describe('actions that replace the response', () => {
    it('status: 500 or the given status, in the format of the API', async () => {
      const { sandbox, bearer, total } = await openFixture({ action: 'status' });
      sandbox.faults.add({ match: { method: 'POST', path: PATH }, action: 'status', status: 503 });
      const droplet = { name: 'a', size: '1gb', image: 'debian-12-x64' };
      const first = await callApi(sandbox, bearer, 'POST', PATH, droplet);
      expect([first.status, JSON.parse(first.body).id]).toEqual([500, 'server_error']);
      expect((await callApi(sandbox, bearer, 'POST', PATH, droplet)).status).toBe(503);
      expect(lastOf(sandbox)).toMatchObject({ status: 503, fault: 'status', committed: false, delivered: true });
      expect(await total()).toBe(3);
    });

    it('status: in the format of the token endpoint, and the refresh token stays valid', async () => {
      const sandbox = await sandboxFor();
      const { refresh_token } = await tokenFor(sandbox);
      const match = { grant_type: 'refresh_token' };
      for (const status of [500, 400, 503]) sandbox.faults.add({ match, action: 'status', status });
      const errors = [];
      for (let at = 0; at < 3; at += 1) errors.push(errorOf(await refreshWith(sandbox, refresh_token)));
      expect(errors).toEqual(['server_error', 'invalid_request', 'temporarily_unavailable']);
      expect((await refreshWith(sandbox, refresh_token)).status).toBe(200);
    });

    it('html_502: an HTML page of a gateway', async () => {
      const { sandbox, create, total } = await openFixture({ action: 'html_502' });
      const wire = await oneAnswer(sandbox.ready.base_url, create);
      expect(wire.text).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
      expect(wire.text).toMatch(/content-type: text\/html/i);
      expect(bodyOf(wire)).toContain('<h1>502 Bad Gateway</h1>');
      expect(lastOf(sandbox)).toMatchObject({ status: 502, fault: 'html_502', committed: false, delivered: true });
      expect(await total()).toBe(3);
    });

    it('redirect_307: redirects to the same path of the other origin, without the query', async () => {
      const sandbox = await sandboxFor();
      const { access_token, refresh_token } = await tokenFor(sandbox);
      sandbox.faults.add({ match: { path: '*' }, action: 'redirect_307', times: 2 });
      const api = await callApi(sandbox, access_token, 'GET', `${PATH}?page=2`);
      expect([api.status, api.headers.location]).toEqual([307, `${sandbox.ready.auth_url}${PATH}`]);
      const auth = await refreshWith(sandbox, refresh_token);
      expect([auth.status, auth.headers.location]).toEqual([307, `${sandbox.ready.base_url}/v1/oauth/token`]);
      expect((await refreshWith(sandbox, refresh_token)).status).toBe(200);
    });

    it('rate_limit: 429 with retry-after', async () => {
      const { sandbox, bearer, total } = await openFixture({ action: 'rate_limit' });
      const answer = await callApi(sandbox, bearer, 'POST', PATH, { name: 'a', size: '1gb', image: 'debian-12-x64' });
      expect([answer.status, JSON.parse(answer.body).id]).toEqual([429, 'too_many_requests']);
      expect(answer.headers).toMatchObject({
        'retry-after': '1',
        'ratelimit-limit': '5000',
        'ratelimit-remaining': '0',
      });
      const wait = Number(answer.headers['ratelimit-reset']) - sandbox.world.now() / 1000;
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(2);
      expect(await total()).toBe(3);
    });

    it('delay combines with every action, and the commit is logged before the connection closes', async () => {
      const { sandbox, create } = await openFixture({ action: 'commit_then_drop', delay: 60_000 });
      const line = openRawConnection(sandbox.ready.base_url);
      line.write(create);
      while (lastOf(sandbox) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(lastOf(sandbox)).toMatchObject({ committed: true, delivered: false });
      expect(line.socket.destroyed).toBe(false);
      line.socket.destroy();
    });
  });
});

describe('connections', () => {
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

    it.each<ActionName>(['status', 'html_502', 'bad_json', 'rate_limit', 'redirect_307'])(
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
    it.each<[ActionName, number]>([
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
      expect(sandbox.world.droplets.of(person?.uuid ?? '')).toHaveLength(3 + committed);
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
      expect(sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '')).toHaveLength(10);
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
});
