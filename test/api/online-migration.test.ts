import { describe, expect, it } from 'vitest';
import {
  describeMigration,
  fetchMigration,
  isCreatedWithin,
  isEndedStatus,
  isFailedStatus,
} from '../../src/api/online-migration.ts';
import { Secret } from '../../src/base/secret.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { apiOf } from './api-of.ts';

async function fetched(status: number, body: unknown) {
  const { origin } = await serverFor(({ url }, response) =>
    url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : reply(response, status, body),
  );
  return fetchMigration(await apiOf(origin), 'uuid-1', { secrets: [new Secret('hunter22')] });
}

describe('the migration of a cluster', () => {
  it.each([
    [
      { id: 7, status: 'running' },
      { id: '7', status: 'running' },
    ],
    [{ online_migration: { id: 'm', created_at: 'T' } }, { id: 'm', createdAt: 'T' }],
    [{}, {}],
    [{ id: null, status: ['x'] }, {}],
  ])('%j is read as %j', async (body, expected) => {
    const { raw: _raw, readAt, ...migration } = (await fetched(200, body)) ?? { raw: {}, readAt: 0 };
    expect(migration).toEqual(expected);
    expect(readAt).toBeGreaterThan(0);
  });

  it('is undefined for 404', async () => {
    expect(await fetched(404, { id: 'not_found' })).toBeUndefined();
  });

  it.each([[[]], ['text'], [{ online_migration: 1 }]])('%j is an error', async (body) => {
    await expect(fetched(200, body)).rejects.toMatchObject({ code: 'api_error' });
  });

  it('has no secret and no control character in its members', async () => {
    const { id, status } = (await fetched(200, { id: 'hunter22', status: '\u001b[31mrun' })) ?? {};
    expect(`${id}${status}`).not.toMatch(/hunter22|\u001b/);
  });
});

it.each([
  ['2026-01-01T00:00:50Z', 20_000, true],
  ['2026-01-01T00:00:10Z', 20_000, false],
  ['2026-01-01T01:00:00Z', 20_000, undefined],
  ['soon', 20_000, undefined],
  ['', 20_000, undefined],
])('one created at %s is of the last %i ms: %s', (createdAt, elapsed, expected) => {
  const readAt = Date.parse('2026-01-01T00:01:00Z');
  expect(isCreatedWithin({ createdAt, readAt, raw: {} }, elapsed)).toBe(expected);
  expect(isCreatedWithin({ createdAt, readAt: Number.NaN, raw: {} }, elapsed)).toBeUndefined();
});

it.each([
  ['running', false, false],
  ['syncing', false, false],
  ['anything else', false, false],
  [undefined, false, false],
  ['canceled', true, false],
  ['cancelled', true, false],
  ['done', true, false],
  ['error', true, true],
  ['Failed', true, true],
])('the status %s has ended: %s, failed: %s', (status, ended, failed) => {
  expect([isEndedStatus(status), isFailedStatus(status)]).toEqual([ended, failed]);
});

it('a migration without an id has a description', () => {
  expect(describeMigration({})).not.toBe('');
  expect(describeMigration({ id: 'm-1', status: 'running', createdAt: 'T' })).toMatch(/m-1.*running.*T/);
});
