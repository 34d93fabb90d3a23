import { describe, expect, it } from 'vitest';
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
    ['match must be', { action: 'reset' }],
    ['match must be', { match: {}, action: 'reset' }],
    ['match must be', { match: [], action: 'reset' }],
    ['match.host is not known', { match: { host: 'x' }, action: 'reset' }],
    ['match.method is not one', { match: { method: 'post' }, action: 'reset' }],
    ['match.path is not one', { match: { path: 'v2' }, action: 'reset' }],
    ['match.path is not one', { match: { path: '/v2?x=1' }, action: 'reset' }],
    ['match.path is not one', { match: { path: '/*/x' }, action: 'reset' }],
    ['action must be one of', { match: { path: '*' } }],
    ['action must be one of', { match: { path: '*' }, action: 'explode' }],
    ['nth must be', { match: { path: '*' }, action: 'reset', nth: 0 }],
    ['times must be', { match: { path: '*' }, action: 'reset', times: '4' }],
    ['delay must be', { match: { path: '*' }, action: 'reset', delay: 'soon' }],
    ['delay must be', { match: { path: '*' }, action: 'reset', delay: '11m' }],
    ['delay is missing', { match: { path: '*' }, action: 'delay' }],
    ['status goes with', { match: { path: '*' }, action: 'reset', status: 500 }],
    ['status must be', { match: { path: '*' }, action: 'status', status: 100 }],
    ['count is not known', { match: { path: '*' }, action: 'reset', count: 1 }],
  ])('are refused with a sentence: %s (%j)', async (sentence, body) => {
    const sandbox = await sandboxFor();
    const answer = await admin(sandbox, 'POST', '/_sandbox/faults', body);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).message).toContain(sentence);
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
