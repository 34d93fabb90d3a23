import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ServerOptions, startServers } from '../../src/sandbox/sandbox.ts';
import { type JsonSchema, schemaErrors } from '../fixtures/json-schema.ts';
import {
  admin,
  callApi,
  codeFor,
  exchangeParameters,
  postToken,
  refreshWith,
  sandboxFor,
  signIn,
  tokenFor,
  userOf,
} from './requests.ts';
import { makeFolder } from './state/state-folders.ts';

const schema: JsonSchema = JSON.parse(
  readFileSync(new URL('../../schemas/sandbox-data-1.json', import.meta.url), 'utf8'),
);

const ANNA = "Anna.O'Neil+test@Example.COM";
const own = {
  $schema: 'urn:cloudctl:sandbox-data:1',
  people: [
    { email: ANNA, password: 'correct horse', uuid: '1B0C9D3E-5F6A-4B7C-8D9E-0F1A2B3C4D5E', teams: ['Ops'] },
    { email: 'bob@example.com', name: 'Bob <b>' },
  ],
  teams: [{ name: 'Ops', uuid: '2b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e' }],
  applications: [
    { name: 'Shop', clientId: 'shop', clientSecret: 's3cret&=', callbackUrls: ['https://shop.example/cb'] },
    { name: 'Worker' },
  ],
  clusters: [{ name: 'main', engine: 'postgresql', version: '16.4', owner: 'Ops' }],
  droplets: [
    { name: 'web', id: 42, tags: ['a'], age: '2d', size: 's-2vcpu-4gb', image: 'debian-12-x64', region: 'ams3' },
    { name: 'worker', account: '2B0C9D3E-5F6A-4B7C-8D9E-0F1A2B3C4D5E' },
  ],
  clock: { startAt: '2030-01-31T12:00:00Z', isFrozen: true },
  outsideSpecification: { tokenResponse: { id_token: 'x', extra: { deep: [1] } }, droplet: { gpu: { count: 2 } } },
};

describe('a sandbox with data', () => {
  it('has its people, teams, applications, clusters, droplets and clock, also after a reset', async () => {
    expect(schemaErrors(schema, own)).toEqual([]);
    const sandbox = await sandboxFor({ data: own });
    const { ready } = sandbox;
    expect(ready).toMatchObject({
      client_id: 'shop',
      client_secret: 's3cret&=',
      callback_url: 'https://shop.example/cb',
      applications: [{ name: 'Shop', client_id: 'shop' }, { name: 'Worker' }],
      users: [
        { email: ANNA, password: 'correct horse', teams: [{ name: 'Ops', uuid: own.teams[0]?.uuid }] },
        { email: 'bob@example.com', password: expect.stringMatching(/^\w{14}$/) },
      ],
      clusters: [{ name: 'main', version: '16.4', owner: own.teams[0]?.uuid }],
    });
    expect(ready.applications[1]?.client_secret).toMatch(/^\w{48}$/);
    for (const again of [false, true]) {
      if (again) await admin(sandbox, 'POST', '/_sandbox/reset');
      expect(new Date(sandbox.world.now()).toISOString()).toBe('2030-01-31T12:00:00.000Z');
      const { access_token } = await tokenFor(sandbox, { user: ANNA.toUpperCase() });
      const list = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
      expect(list.droplets).toMatchObject([
        { id: 42, name: 'web', tags: ['a'], size_slug: 's-2vcpu-4gb', created_at: '2030-01-29T12:00:00Z' },
      ]);
    }
    const team = await tokenFor(sandbox, { user: ANNA, team: 'Ops' });
    const list = JSON.parse((await callApi(sandbox, team.access_token, 'GET', '/v2/droplets')).body);
    expect(list.droplets).toMatchObject([{ name: 'worker', region: { slug: 'nyc3' } }]);
    expect(await signIn(sandbox, ANNA)).toMatch(/^sandbox_session/);
  });

  it('adds members to token responses and droplets, and nowhere else', async () => {
    const sandbox = await sandboxFor({ data: { outsideSpecification: own.outsideSpecification } });
    const code = await codeFor(sandbox, { changes: { scope: 'read write' } });
    const grant = JSON.parse((await postToken(sandbox, exchangeParameters(sandbox, code))).body);
    const next = JSON.parse((await refreshWith(sandbox, grant.refresh_token)).body);
    for (const body of [grant, next]) expect(body).toMatchObject(own.outsideSpecification.tokenResponse);
    const request = { name: 'new', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
    const created = JSON.parse((await callApi(sandbox, next.access_token, 'POST', '/v2/droplets', request)).body);
    expect(created.droplet).toMatchObject({ name: 'new', gpu: { count: 2 } });
    const one = JSON.parse(
      (await callApi(sandbox, next.access_token, 'GET', `/v2/droplets/${created.droplet.id}`)).body,
    );
    expect(one.droplet).toEqual({ ...created.droplet });
    const error = await refreshWith(sandbox, 'unknown');
    expect(Object.keys(JSON.parse(error.body))).toEqual(['error', 'error_description']);
  });

  it('keeps them in its saved state and in its snapshots, which are data as well', async () => {
    const state = makeFolder();
    const first = await startServers({ data: own, state });
    const snapshot = JSON.parse((await admin(first, 'GET', '/_sandbox/snapshot')).body);
    const { users } = first.ready;
    await first.close();
    const second = await sandboxFor({ data: { people: [{ email: 'other@example.com' }] }, state });
    expect(second.ready.users).toEqual(users);
    expect(second.notice).toContain('saved state');
    for (const data of [snapshot, { ...snapshot, digest: undefined }, snapshot.seed]) {
      const third = await sandboxFor({ data, users: ['new@example.com'] });
      expect(third.ready.users).toMatchObject([...users, { email: 'new@example.com' }]);
      expect(third.ready.applications).toEqual(first.ready.applications);
      expect(new Date(third.world.now()).toISOString()).toBe('2030-01-31T12:00:00.000Z');
    }
  });

  it('generates the same ids and secrets with the same seed', async () => {
    const data = { people: [{ email: 'a@b.c' }], droplets: [{ name: 'x' }] };
    const [one, two] = [await sandboxFor({ data, seed: 5 }), await sandboxFor({ data, seed: 5 })];
    expect(one.ready.users).toEqual(two.ready.users);
    expect(one.ready.client_secret).toBe(two.ready.client_secret);
  });

  it('of ten megabytes is read in linear time', { timeout: 60_000 }, async () => {
    const people = Array.from({ length: 140_000 }, (_, at) => ({
      email: `person${at}@example.com`,
      teams: ['Everyone'],
    }));
    const droplets = Array.from({ length: 70_000 }, (_, at) => ({ name: `d${at}`, id: at + 1 }));
    const data = { people, teams: [{ name: 'Everyone' }], droplets };
    expect(JSON.stringify(data).length).toBeGreaterThan(10_000_000);
    const sandbox = await sandboxFor({ data });
    expect(sandbox.ready.users).toHaveLength(140_000);
  });
});

describe('further users', () => {
  it('have a generated password, keep the others, and survive a reset', async () => {
    const sandbox = await sandboxFor({ users: ['me+1@example.com', 'MAYA@example.com'], seed: 3 });
    expect(sandbox.ready.users.map(({ email }) => email)).toEqual([
      'maya@example.com',
      'tomas@example.com',
      'me+1@example.com',
    ]);
    await admin(sandbox, 'POST', '/_sandbox/reset');
    expect(await signIn(sandbox, 'me+1@example.com')).not.toBe('');
    const { info } = await tokenFor(sandbox, { user: 'me+1@example.com' });
    expect(info).toMatchObject({ name: 'me+1', uuid: userOf(sandbox, 'me+1@example.com').uuid });
    const without = await sandboxFor({ seed: 3 });
    expect(sandbox.ready.users.slice(0, 2)).toEqual(without.ready.users);
  });

  it('are added to a saved state, once', async () => {
    const state = makeFolder();
    const first = await startServers({ state, users: ['a@b.c'] });
    await first.close();
    const second = await sandboxFor({ state, users: ['a@b.c', 'd@e.f'] });
    expect(second.ready.users.slice(2).map(({ email }) => email)).toEqual(['a@b.c', 'd@e.f']);
    expect(second.ready.users[2]).toEqual(first.ready.users[2]);
  });

  it.each([
    '',
    'me',
    'me@',
    '@b.c',
    'a b@c.d',
    'a@b\n.c',
    'a@b..c',
    'a@-b.c',
    '"a b"@c.d',
    'ä@b.c',
    'a@b@c',
    `${'a'.repeat(255)}@b.c`,
  ])('are refused: %j', async (email) => {
    await expect(startServers({ users: [email] })).rejects.toThrow('user ');
    await expect(startServers({ data: { people: [{ email }] } })).rejects.toThrow('people[0].email is not');
    expect(schemaErrors(schema, { people: [{ email }] })).not.toEqual([]);
  });

  it('are refused twice', async () => {
    await expect(startServers({ users: ['a@b.c', 'A@B.C'] })).rejects.toThrow('given twice');
  });
});

const person = { email: 'a@b.c' };
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);

describe('data that is not valid', () => {
  it.each<[string, unknown]>([
    ['the value', null],
    ['the value', []],
    ['the value', 'x'],
    ['"peple"', { peple: [] }],
    ['people', { people: {} }],
    ['people', { people: [] }],
    ['people[1]', { people: [person, null] }],
    ['people[0].email', { people: [{ name: 'x' }] }],
    ['people[0].email', { people: [{ email: 5 }] }],
    ['"emial"', { people: [{ ...person, emial: 'x' }] }],
    ['people[0].password', { people: [{ ...person, password: '' }] }],
    ['people[0].password', { people: [{ ...person, password: 12345678 }] }],
    ...['secret ', ' secret', 'a\u2028b', 'a\u202eb', 'x'.repeat(257)].map((password): [string, unknown] => [
      'people[0].password',
      { people: [{ ...person, password }] },
    ]),
    ['people[0].name', { people: [{ ...person, name: 'a\u0007' }] }],
    ['people[0].uuid', { people: [{ ...person, uuid: '1' }] }],
    ['people[0].teams[0]', { people: [{ ...person, teams: ['Ops'] }] }],
    ['people[0].teams[1]', { people: [{ ...person, teams: ['Ops', own.teams[0]?.uuid] }], teams: own.teams }],
    ['teams[1].name', { people: [person], teams: [...own.teams, { name: own.teams[0]?.uuid?.toUpperCase() }] }],
    ['people[1].email', { people: [person, { email: 'A@b.C' }] }],
    ['teams', { teams: [{ name: 'x' }] }],
    ['teams[1].name', { people: [person], teams: [{ name: 'x' }, { name: 'x' }] }],
    ['teams[0].uuid', { people: [{ ...person, uuid: own.teams[0]?.uuid }], teams: own.teams }],
    ['applications', { applications: [] }],
    ['applications[0].callbackUrls', { applications: [{ name: 'x', callbackUrls: [] }] }],
    ['applications[0].callbackUrls[0]', { applications: [{ name: 'x', callbackUrls: ['javascript:alert(1)'] }] }],
    ['applications[0].clientSecret', { applications: [{ name: 'x', clientSecret: 'with space' }] }],
    [
      'applications[1].clientId',
      {
        applications: [
          { name: 'x', clientId: 'a' },
          { name: 'y', clientId: 'a' },
        ],
      },
    ],
    ['clusters[0].engine', { clusters: [{ name: 'x', engine: 'mysql' }] }],
    ['clusters[0].name', { clusters: [{ name: 'x y', engine: 'redis' }] }],
    ['clusters[0].owner', { clusters: [{ name: 'x', engine: 'redis', owner: 'nobody' }] }],
    ['clusters[1].name', { clusters: [own.clusters[0], own.clusters[0]], people: own.people, teams: own.teams }],
    ['droplets[0].name', { droplets: [{ name: 'a b' }] }],
    ['droplets[0].size', { droplets: [{ name: 'a', size: 'huge' }] }],
    ['droplets[0].tags', { droplets: [{ name: 'a', tags: ['a b'] }] }],
    ['droplets[0].id', { droplets: [{ name: 'a', id: 0 }] }],
    ['droplets[0].id', { droplets: [{ name: 'a', id: 1.5 }] }],
    ['droplets[0].age', { droplets: [{ name: 'a', age: -1 }] }],
    ['droplets[0].account', { droplets: [{ name: 'a', account: 'x@y.z' }] }],
    [
      'droplets[1].id',
      {
        droplets: [
          { name: 'a', id: 7 },
          { name: 'b', id: 7 },
        ],
      },
    ],
    ['clock.startAt', { clock: { startAt: '2030-01-31' } }],
    ['clock.startAt', { clock: { startAt: '2030-13-31T00:00:00Z' } }],
    ['clock.startAt', { clock: { startAt: '2030-02-31T00:00:00Z' } }],
    ['clock.startAt', { clock: { startAt: '9999-12-31T00:00:00Z' } }],
    ['clock.startAt', { clock: { startAt: '1969-12-31T00:00:00Z' } }],
    ['clock.isFrozen', { clock: { isFrozen: 'yes' } }],
    ['outsideSpecification.tokenResponse.scope', { outsideSpecification: { tokenResponse: { scope: 'admin' } } }],
    [
      'outsideSpecification.tokenResponse.access_token',
      { outsideSpecification: { tokenResponse: { toJSON: () => ({ access_token: 'x' }) } } },
    ],
    ['outsideSpecification.droplet.networks', { outsideSpecification: { droplet: { networks: {} } } }],
    ['outsideSpecification.droplet', { outsideSpecification: { droplet: [] } }],
    ['outsideSpecification.droplet', { outsideSpecification: { droplet: cyclic } }],
    ['outsideSpecification.droplet', { outsideSpecification: { droplet: { deep } } }],
    ['outsideSpecification.droplet', { outsideSpecification: { droplet: { big: 'x'.repeat(70_000) } } }],
    ['digest', { format: 'cloudctl-sandbox-snapshot', version: 1 }],
  ])('names %s', async (path, data) => {
    const state = join(mkdtempSync(join(tmpdir(), 'sandbox-data-')), 'never');
    const error = await startServers({ data, state }).catch((problem: unknown) => problem);
    expect(existsSync(state)).toBe(false);
    expect(error).toMatchObject({ name: 'SandboxDataError' });
    expect(String(error)).toContain(path === 'digest' ? 'snapshot' : path);
  });

  it.each<[string, ServerOptions]>([
    ['application name', { apps: [{ name: 'a\u001bb', callbackUrl: 'http://127.0.0.1:1/' }] }],
    ['callback URL', { apps: [{ name: 'a', callbackUrl: 'javascript:alert(1)' }] }],
    ['cluster name', { clusters: [{ name: 'a b', url: 'redis://127.0.0.1:1' }] }],
  ])('is refused as an option as well: %s', async (what, options) => {
    await expect(startServers(options)).rejects.toThrow(what);
  });

  it('is reported without the value, which may be a password', async () => {
    const error = await startServers({ data: { people: [{ ...person, password: 'hunter2\u0000' }] } }).catch(String);
    expect(error).not.toContain('hunter2');
  });
});
