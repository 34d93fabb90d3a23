import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { admin, sandboxFor, send } from '../requests.ts';

describe('the faults of the admin API', () => {
  it('are added, listed with their counters, and cleared', async () => {
    const sandbox = await sandboxFor();
    const fault = {
      match: { method: 'POST', path: '/v2/droplets' },
      action: 'status',
      nth: 3,
      times: 4,
      delay: '2s',
      status: 503,
    };
    const added = await admin(sandbox, 'POST', '/_sandbox/faults', fault);
    const record = { id: 1, ...fault, delay: 2000, matched: 0, applied: 0, remaining: 4 };
    expect([added.status, JSON.parse(added.body)]).toEqual([201, record]);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/faults')).body)).toEqual({ faults: [record] });
    expect(sandbox.faults.list()).toEqual([record]);
    expect((await admin(sandbox, 'DELETE', '/_sandbox/faults')).status).toBe(204);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/faults')).body)).toEqual({ faults: [] });
  });

  it.each<[string, object]>([
    ['no match', { action: 'reset' }],
    ['an empty match', { match: {}, action: 'reset' }],
    ['an array as match', { match: [], action: 'reset' }],
    ['an unknown member of match', { match: { host: 'x' }, action: 'reset' }],
    ['a method in lower case', { match: { method: 'post' }, action: 'reset' }],
    ['a path without a slash', { match: { path: 'v2' }, action: 'reset' }],
    ['a path with a query', { match: { path: '/v2?x=1' }, action: 'reset' }],
    ['a * inside a path', { match: { path: '/*/x' }, action: 'reset' }],
    ['no action', { match: { path: '*' } }],
    ['an unknown action', { match: { path: '*' }, action: 'explode' }],
    ['nth 0', { match: { path: '*' }, action: 'reset', nth: 0 }],
    ['times as a string', { match: { path: '*' }, action: 'reset', times: '4' }],
    ['delay as a word', { match: { path: '*' }, action: 'reset', delay: 'soon' }],
    ['a delay that is too long', { match: { path: '*' }, action: 'reset', delay: '11m' }],
    ['the action delay without a delay', { match: { path: '*' }, action: 'delay' }],
    ['the action commit_late without a delay', { match: { path: '*' }, action: 'commit_late' }],
    ['the action lag_lists without a delay', { match: { path: '*' }, action: 'lag_lists' }],
    ['a status for another action', { match: { path: '*' }, action: 'reset', status: 500 }],
    ['a status out of range', { match: { path: '*' }, action: 'status', status: 100 }],
    ['an unknown member', { match: { path: '*' }, action: 'reset', count: 1 }],
  ])('are rejected with 422: %s', async (_what, body) => {
    const sandbox = await sandboxFor();
    const answer = await admin(sandbox, 'POST', '/_sandbox/faults', body);
    expect(answer.status).toBe(422);
    expectGolden('sandbox', JSON.parse(answer.body).message);
    expect(sandbox.faults.list()).toEqual([]);
  });

  it('need the admin token and the exact Host', async () => {
    const { ready } = await sandboxFor();
    const { port } = new URL(ready.admin_url);
    for (const headers of [
      {},
      { 'x-admin-token': 'x' },
      { 'x-admin-token': ready.admin_token, host: `localhost:${port}` },
    ]) {
      expect((await send(ready.admin_url, '/_sandbox/faults', { headers })).status).toBe(403);
    }
  });

  it('are gone after a reset', async () => {
    const sandbox = await sandboxFor();
    sandbox.faults.add({ match: { path: '*' }, action: 'reset' });
    await admin(sandbox, 'POST', '/_sandbox/reset');
    expect(sandbox.faults.list()).toEqual([]);
  });
});
