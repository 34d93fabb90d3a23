import fc from 'fast-check';
import { expect, it } from 'vitest';
import { getStorableSourceHost, SOURCE_FIELD_NOT_STORED } from '../../../src/sandbox/v2/migrations.ts';
import { admin, callApi, MAYA, sandboxFor, send, signIn, tokenFor } from '../requests.ts';

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
  ["host='real' password='it''s'", SOURCE_FIELD_NOT_STORED],
  ['dbname=shop service=x', SOURCE_FIELD_NOT_STORED],
  ['fe80::1%text', SOURCE_FIELD_NOT_STORED],
  ['mysql://h/db', SOURCE_FIELD_NOT_STORED],
])('%j is stored as %j', (host, stored) => {
  expect(getStorableSourceHost(host)).toBe(stored);
});

it.each(FORMS_WITH_PASSWORD)('%j is stored without its password', (host) => {
  expect(getStorableSourceHost(host)).not.toContain(SECRET);
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
    fc.property(hostField, (text) => !getStorableSourceHost(text).includes(SECRET)),
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
  expect(panel).toContain(SOURCE_FIELD_NOT_STORED);
  expect(panel).not.toContain(SECRET);
  expect((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body).not.toContain(SECRET);
});
