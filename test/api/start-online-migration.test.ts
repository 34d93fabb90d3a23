import { describe, expect, it } from 'vitest';
import { requestMigration, StartUnknownError } from '../../src/api/start-online-migration.ts';
import { Secret } from '../../src/base/secret.ts';
import { errorText } from '../fixtures/error-text.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { apiOf } from './api-of.ts';
import { workLoginHints } from './login-hints.ts';

const source = { host: 'db.example.com', port: 5432, dbname: 'app', username: 'u', password: new Secret('hunter2') };

const workCommand = (words: string) => `\`cloudctl ${words} --profile work\``;

describe('an online migration', () => {
  it('is started in the sandbox and is running', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    const cluster = sandbox.ready.clusters.find(({ engine }) => engine === 'postgresql')?.uuid ?? '';
    const started = await requestMigration(
      await apiOf(sandbox.ready.base_url, token),
      cluster,
      { source },
      workLoginHints,
      workCommand,
    );
    expect(started).toMatchObject({ status: 'running', id: expect.any(String) });
    expect(Date.parse(started.createdAt)).not.toBeNaN();
  });

  it.each([
    [{ source }, { source: { ...source, password: 'hunter2' } }],
    [{ source: { host: 'h' } }, { source: { host: 'h' } }],
    [
      { source: { host: 'h' }, disableSsl: false, ignoreDbs: [] },
      { source: { host: 'h' }, disable_ssl: false, ignore_dbs: [] },
    ],
  ])('sends what is set and nothing else: %#', async (request, body) => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, { id: '1', status: 'running' }));
    await requestMigration(await apiOf(origin), 'uuid-1', request, workLoginHints, workCommand);
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/v2/databases/uuid-1/online-migration' });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
  });

  it('into a cluster that is not there is told from a session that has ended', async () => {
    const { origin, seen } = await serverFor(({ url }, response) =>
      url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : reply(response, 404, { id: 'not_found' }),
    );
    await expect(
      requestMigration(await apiOf(origin), 'uuid-1', { source }, workLoginHints, workCommand),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(seen.map(({ method }) => method)).toEqual(['PUT', 'GET']);
    const ended = await serverFor((_, response) => reply(response, 404, { id: 'not_found' }));
    await expect(
      requestMigration(await apiOf(ended.origin), 'uuid-1', { source }, workLoginHints, workCommand),
    ).rejects.toMatchObject({
      code: 'needs_login',
    });
  });

  it.each<[string, unknown, object]>([
    ['has no body', undefined, { id: '', status: 'running', createdAt: '' }],
    ['is an empty object', {}, { id: '', status: 'running', createdAt: '' }],
    ['has a numeric id', { id: 'N', status: 'starting' }, { id: '12345678901234567890' }],
    [
      'wraps the migration',
      { online_migration: { id: 'm', status: 'syncing', created_at: 'T' } },
      { id: 'm', createdAt: 'T' },
    ],
    ['has a status alone', { status: 'queued' }, { id: '', status: 'queued' }],
  ])('is accepted by a 2xx that %s', async (_what, body, expected) => {
    const text = body === undefined ? '' : JSON.stringify(body).replace('"N"', '12345678901234567890');
    const { origin } = await serverFor(({ method }, response) => {
      if (method === 'GET') return reply(response, 405, { id: 'method_not_allowed' });
      response.writeHead(body === undefined ? 204 : 202, { 'content-type': 'application/json' }).end(text);
    });
    const started = await requestMigration(await apiOf(origin), 'uuid-1', { source }, workLoginHints, workCommand);
    expect(started).toMatchObject(expected);
  });

  it('without an id in the response has that of the migration that the service shows', async () => {
    const shown = { id: 'm-1', status: 'running', created_at: new Date().toISOString() };
    const { origin } = await serverFor(({ method }, response) =>
      method === 'PUT' ? reply(response, 202) : reply(response, 200, shown),
    );
    const started = await requestMigration(await apiOf(origin), 'uuid-1', { source }, workLoginHints, workCommand);
    expect(started).toEqual({ id: 'm-1', status: 'running', createdAt: shown.created_at });
  });

  it('without an id in the response has not that of an earlier migration', async () => {
    const { origin } = await serverFor(({ method }, response) =>
      method === 'PUT'
        ? reply(response, 202)
        : reply(response, 200, { id: 'm-0', status: 'canceled', created_at: '2020-01-01T00:00:00Z' }),
    );
    const started = await requestMigration(await apiOf(origin), 'uuid-1', { source }, workLoginHints, workCommand);
    expect(started).toEqual({ id: '', status: 'running', createdAt: '' });
  });

  it('has no secret in what the service tells about it', async () => {
    const password = new Secret('correct horse');
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { id: 'correct horse', status: 'waiting for correct horse' }),
    );
    const started = await requestMigration(
      await apiOf(origin),
      'uuid-1',
      { source: { ...source, password } },
      workLoginHints,
      workCommand,
    );
    expect(JSON.stringify(started)).not.toContain('correct horse');
  });

  describe.each<[string, RequestHandler]>([
    ['the page of a proxy', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['half a body', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"i')],
    ['a redirect to the result', (_, response) => void response.writeHead(303, { location: '/v2' }).end()],
    ['dropped', (_, response) => void response.destroy()],
    ['a 502', (_, response) => reply(response, 502, { message: 'hunter2' })],
  ])('whose response was %s', (_what, answer) => {
    const cases = [
      ['one created since is adopted', 0, { id: 'm-1', status: 'running' }],
      ['an older one is not', 60_000, undefined],
      ['one of another zone is not', -3_600_000, undefined],
    ] as const;
    it.each(cases)('is looked up: %s', async (_case, age, expected) => {
      const { origin, seen } = await serverFor((request, response) => {
        if (request.method === 'PUT') return answer(request, response, 1);
        const created = new Date(Math.floor(Date.now() / 1000) * 1000 - age).toISOString();
        reply(response, 200, { id: 'm-1', status: 'running', created_at: created });
      });
      const ended = await requestMigration(
        await apiOf(origin),
        'uuid-1',
        { source },
        workLoginHints,
        workCommand,
      ).catch((error: unknown) => error);
      if (expected === undefined) expect(ended).toBeInstanceOf(StartUnknownError);
      else expect(ended).toMatchObject(expected);
      expect(JSON.stringify(ended)).not.toContain('hunter2');
      expect(seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    });
  });

  it('that conflicts with another one names that one and how to see and stop it', async () => {
    const { origin } = await serverFor(({ method }, response) =>
      method === 'PUT'
        ? reply(response, 409, { id: 'conflict', message: 'already running' })
        : reply(response, 200, { id: 'm-0', status: 'running', created_at: '2026-01-01T00:00:00Z' }),
    );
    const failure = await requestMigration(
      await apiOf(origin),
      'uuid-1',
      { source },
      workLoginHints,
      workCommand,
    ).catch((error: unknown) => error);
    expectGolden('db-migrate', errorText(failure));
  });

  it('without write scope is refused after one request', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 403, { id: 'forbidden' }));
    await expect(
      requestMigration(await apiOf(origin), 'uuid-1', { source }, workLoginHints, workCommand),
    ).rejects.toMatchObject({ code: 'scope_too_small' });
    expect(seen).toHaveLength(1);
  });
});
