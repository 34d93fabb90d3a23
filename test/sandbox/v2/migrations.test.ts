import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_STORED, storableHost } from '../../../src/sandbox/v2/migrations.ts';
import { admin, callApi, MAYA, sandboxFor, send, signIn, TOMAS, tokenFor, userOf } from '../requests.ts';

const SOURCE = { host: 'db.example.com', port: 5432, dbname: 'shop', username: 'mover', password: "p'w d%22é" };

async function openFixture() {
  const sandbox = await sandboxFor();
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
  const [pg, redis] = sandbox.ready.clusters.map(({ uuid }) => `/v2/databases/${uuid}/online-migration`);
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await callApi(sandbox, access_token, method, path, body);
    return { status: answer.status, json: answer.body === '' ? undefined : JSON.parse(answer.body), text: answer.body };
  };
  return { sandbox, ask, pg: pg!, redis: redis! };
}

describe('PUT online-migration', () => {
  it('is answered 200 with id, running and created_at, without the source', async () => {
    const { ask, pg } = await openFixture();
    const { status, json, text } = await ask('PUT', pg, {
      source: SOURCE,
      disable_ssl: false,
      ignore_dbs: ['scratch'],
    });
    expect(status).toBe(200);
    expect(json).toEqual({ id: expect.any(String), status: 'running', created_at: expect.any(String) });
    expect(text).not.toContain('mover');
  });

  it('does not reveal the password in GET, the request log or the panel', async () => {
    const { ask, pg, sandbox } = await openFixture();
    await ask('PUT', pg, {
      source: { ...SOURCE, host: `postgres://mover:${'S3cretWord'}@db.example.com/shop`, password: 'S3cretWord' },
    });
    const seen = [
      (await ask('GET', pg)).text,
      (await admin(sandbox, 'GET', '/_sandbox/requests')).body,
      JSON.stringify(sandbox.world.migrations.all()),
    ];
    expect(seen.join()).not.toContain('S3cretWord');
  });

  it('a second migration is 409 while the first one runs, and starts after it was stopped', async () => {
    const { ask, pg } = await openFixture();
    await ask('PUT', pg, { source: SOURCE });
    expect((await ask('PUT', pg, { source: SOURCE })).status).toBe(409);
    expect((await ask('DELETE', pg)).status).toBe(204);
    expect((await ask('PUT', pg, { source: SOURCE })).status).toBe(200);
  });

  it.each([
    ['no source', {}],
    ['source of another type', { source: 'db' }],
    ['no host', { source: { dbname: 'a' } }],
    ['port as text', { source: { ...SOURCE, port: '5432' } }],
    ['port out of range', { source: { ...SOURCE, port: 65_536 } }],
    ['no dbname', { source: { host: 'db.example.com' } }],
    ['an empty dbname', { source: { ...SOURCE, dbname: '' } }],
    ['password as a number', { source: { ...SOURCE, password: 1 } }],
    ['disable_ssl as text', { source: SOURCE, disable_ssl: 'no' }],
    ['ignore_dbs as text', { source: SOURCE, ignore_dbs: 'a' }],
    ['ignore_dbs with a number', { source: SOURCE, ignore_dbs: [1] }],
    ['no host name', { source: { ...SOURCE, host: 'not a host' } }],
    ['a Unix socket', { source: { ...SOURCE, host: '/var/run/postgresql' } }],
    ['a managed cluster by name', { source: { ...SOURCE, host: 'orders' } }],
    ['a managed cluster of the other engine', { source: { ...SOURCE, host: 'Cache.' } }],
    ['a managed cluster in the domain', { source: { ...SOURCE, host: 'orders.db.cloud-sandbox.invalid' } }],
    ['a managed cluster in a URL', { source: { ...SOURCE, host: 'postgres://u:p@ORDERS:25061/a' } }],
    ['a managed cluster in keywords', { source: { host: "host='orders' dbname=a password='x y'" } }],
  ])('%s is 422 and starts nothing', async (_name, body) => {
    const { ask, pg } = await openFixture();
    const { status, json } = await ask('PUT', pg, body);
    expect(status).toBe(422);
    expect(json.message).not.toContain('--');
    expect((await ask('GET', pg)).status).toBe(404);
  });

  it('a cluster of another account is refused by name and by UUID as well', async () => {
    const uuid = '2b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e';
    const people = [{ email: 'maya@example.com' }, { email: 'other@example.com' }];
    const sandbox = await sandboxFor({
      data: {
        people,
        clusters: [
          { name: 'mine', engine: 'postgresql' },
          { name: 'theirs', engine: 'postgresql', uuid, owner: 'other@example.com' },
        ],
      },
    });
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
    const put = async (host: string): Promise<number> =>
      (await callApi(sandbox, access_token, 'PUT', path, { source: { ...SOURCE, host } })).status;
    for (const host of ['theirs', uuid, uuid.toUpperCase(), 'mine:5432'])
      expect([host, await put(host)]).toEqual([host, 422]);
    // No domain of another service is known, and a name that only contains that of a cluster is another host.
    expect(await put('theirs.db.ondigitalocean.com')).toBe(200);
  });

  it('an unknown cluster is 404, a read token 403, another media type 415', async () => {
    const { ask, pg, sandbox } = await openFixture();
    const unknown = '/v2/databases/00000000-0000-4000-8000-000000000000/online-migration';
    expect((await ask('PUT', unknown, { source: SOURCE })).status).toBe(404);
    const { access_token } = await tokenFor(sandbox, { scope: 'read' });
    expect((await callApi(sandbox, access_token, 'PUT', pg, { source: SOURCE })).status).toBe(403);
    expect((await callApi(sandbox, access_token, 'GET', pg)).status).toBe(404);
  });

  it('a Redis source needs no dbname, and rejects ignore_dbs', async () => {
    const { ask, redis } = await openFixture();
    expect((await ask('PUT', redis, { source: { host: 'r.example.com' }, ignore_dbs: ['a'] })).status).toBe(422);
    expect((await ask('PUT', redis, { source: { host: 'r.example.com', port: 6379 } })).status).toBe(200);
  });
});

describe('GET of an online migration', () => {
  it('stops automatically two weeks after it started', async () => {
    const { ask, pg, sandbox } = await openFixture();
    await ask('PUT', pg, { source: SOURCE });
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 14 * 86_400_000 - 1 });
    expect((await ask('GET', pg)).json).toMatchObject({ status: 'running', data_plane: 'none' });
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 1 });
    expect((await ask('GET', pg)).json).toMatchObject({ status: 'canceled', reason: 'max_duration' });
  });
});

describe('DELETE /v2/databases/{uuid}/online-migration/{id}', () => {
  it('stops the migration with this id and no other', async () => {
    const { ask, pg } = await openFixture();
    const { json } = await ask('PUT', pg, { source: SOURCE });
    expect((await ask('DELETE', `${pg}/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await ask('GET', pg)).json.status).toBe('running');
    expect((await ask('DELETE', `${pg}/${json.id}`)).status).toBe(204);
    expect((await ask('GET', pg)).json).toMatchObject({ status: 'canceled', reason: 'stopped_by_user' });
  });
});

describe('the cluster of another account', () => {
  it('is 404 for every method, with and without a team, and its migration continues', async () => {
    const { ask, pg, sandbox } = await openFixture();
    const { json } = await ask('PUT', pg, { source: SOURCE });
    const [team] = userOf(sandbox, TOMAS).teams;
    for (const holder of [{ user: TOMAS }, { user: TOMAS, team: team?.uuid }]) {
      const { access_token } = await tokenFor(sandbox, { scope: 'read write', ...holder });
      const requests = [
        ['GET', pg],
        ['HEAD', pg],
        ['DELETE', pg],
        ['DELETE', `${pg}/${json.id}`],
        ['PUT', pg, { source: SOURCE }],
        ['PUT', pg, 'no JSON'],
      ] as const;
      for (const [method, path, body] of requests) {
        const answer = await callApi(sandbox, access_token, method, path, body);
        expect([method, answer.status, answer.body.includes(json.id)]).toEqual([method, 404, false]);
      }
    }
    expect((await ask('GET', pg)).json).toMatchObject({ id: json.id, status: 'running' });
  });
});

const SECRET = 'SECRETPW';

/** Forms of a host field that contain the password. */
const FORMS_WITH_PASSWORD = [
  `jdbc:postgresql://h/db?user=u&password=${SECRET}`,
  ` postgres://u:${SECRET}@h/db`,
  `\npostgres://u:${SECRET}@h/db`,
  `u:${SECRET}@h`,
  `u:${SECRET}@h/db`,
  `"postgres://u:${SECRET}@h/db"`,
  `postgres:/u:${SECRET}@h/db`,
  `psql postgres://u:${SECRET}@h/db`,
  `postgres://h/db?user=a@b&password=${SECRET}`,
  `postgres://h/db?password=x@${SECRET}`,
  `password='a host=${SECRET}' host=real`,
  `password=a host=${SECRET} host=real`,
  `password='a' host=${SECRET}' host=real`,
  `postgres://h;password=${SECRET}`,
  `postgres://u:p@${SECRET}@h/db`,
  `postgres://u:5432/${SECRET}@h/db`,
];

it.each([
  ['db.example.com', 'db.example.com'],
  [' db.example.com\n', 'db.example.com'],
  ['db.example.com:5433', 'db.example.com:5433'],
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]:5432', '[2001:db8::1]:5432'],
  ['postgres://u:p@db.example.com:5433/shop?sslmode=require', 'postgres://db.example.com:5433'],
  ['rediss://:p%40w@[2001:db8::1]:6380/0', 'rediss://[2001:db8::1]:6380'],
  [' postgres://u:p@h/db', 'postgres://h'],
  ["password='a host=b' host=real dbname = shop", 'real'],
  ["host='real' password='it''s'", NOT_STORED],
  ['dbname=shop service=x', NOT_STORED],
  ['fe80::1%text', NOT_STORED],
  ['mysql://h/db', NOT_STORED],
])('%j is stored as %j', (host, stored) => {
  expect(storableHost(host)).toBe(stored);
});

it.each(FORMS_WITH_PASSWORD)('%j is stored without its password', (host) => {
  expect(storableHost(host)).not.toContain(SECRET);
});

it('no text contains the password, whatever is around it', () => {
  const around = fc
    .array(fc.constantFrom(...'@/?#&;:,=\'"\\ \t\n%[]', 'a', '5432', ' host=', 'host=b ', '%40', '://', '\u00a0'))
    .map((parts) => parts.join(''));
  const password = fc.tuple(around, around).map(([before, after]) => `${before}${SECRET}${after}`);
  const prefix = fc.constantFrom('', ' ', '\n', '"', "'", 'psql ', 'psql "', 'jdbc:', '<');
  const scheme = fc.constantFrom(
    '',
    'postgres://',
    'POSTGRESQL://',
    'redis://',
    'rediss:///',
    'postgres:/',
    'mysql://',
    '//',
  );
  const user = fc.constantFrom('', 'u', 'a@b', 'u%40');
  const host = fc.constantFrom('h', 'db.example.com:5432', '[::1]', '192.0.2.7', 'h1,h2');
  const tail = fc.constantFrom('', '/db', '/db?sslmode=require', '?x=1', '"', "'", ' dbname=shop');
  const hostField = fc.oneof(
    fc.tuple(prefix, scheme, user, password, host, tail).map(([p, s, u, w, h, t]) => `${p}${s}${u}:${w}@${h}${t}`),
    fc.tuple(prefix, scheme, host, user, password).map(([p, s, h, u, w]) => `${p}${s}${h}/db?user=${u}&password=${w}`),
    fc.tuple(prefix, host, password, tail).map(([p, h, w, t]) => `${p}host=${h} password='${w}'${t}`),
    fc.tuple(prefix, host, password, tail).map(([p, h, w, t]) => `${p}password='${w}' host=${h}${t}`),
    fc.tuple(prefix, host, password).map(([p, h, w]) => `${p}password=${w} host=${h}`),
    fc
      .tuple(host, password)
      .map(([h, w]) => `password='${w.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}' host=${h}`),
  );
  fc.assert(
    fc.property(hostField, (text) => !storableHost(text).includes(SECRET)),
    { numRuns: 20_000 },
  );
});

it('neither panel nor snapshot show the password, and a managed cluster in any form is 422', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
  for (const host of FORMS_WITH_PASSWORD) {
    const put = (source: object) => callApi(sandbox, access_token, 'PUT', path, { source });
    expect([host, (await put({ host, dbname: 'shop' })).status]).toEqual([host, 200]);
    expect((await callApi(sandbox, access_token, 'DELETE', path)).status).toBe(204);
    const managed = host
      .replaceAll('@h', '@orders.db.cloud-sandbox.invalid')
      .replaceAll('//h', '//orders.db.cloud-sandbox.invalid');
    if (managed !== host)
      expect([managed, (await put({ host: managed, dbname: 'shop' })).status]).toEqual([managed, 422]);
  }
  const dbname = `postgres://u:${SECRET}@h/shop`;
  expect((await callApi(sandbox, access_token, 'PUT', path, { source: { host: 'h', dbname } })).status).toBe(200);
  const cookie = await signIn(sandbox, MAYA);
  const panel = (await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } })).body;
  expect(panel).toContain(NOT_STORED);
  expect(panel).not.toContain(SECRET);
  expect((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body).not.toContain(SECRET);
});
