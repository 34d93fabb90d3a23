import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { FORM, MAYA, sandboxFor, send, signIn } from '../requests.ts';
import { pageText } from './page-text.ts';

const day = 86_400_000;

async function openFixture() {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, MAYA);
  const page = () => send(sandbox.ready.auth_url, '/panel/clock', { headers: { cookie } });
  /** Submits the form at `path` with the unused token of the page. */
  const post = async (path: string, fields: Readonly<Record<string, string>>, csrf?: string) => {
    const form = new RegExp(`action="${path}"[\\s\\S]*?name="csrf" value="([^"]+)"`).exec((await page()).body);
    return send(sandbox.ready.auth_url, path, {
      method: 'POST',
      headers: { ...FORM, cookie, origin: sandbox.ready.auth_url },
      body: new URLSearchParams({ csrf: csrf ?? form?.[1] ?? '', ...fields }).toString(),
    });
  };
  return { sandbox, cookie, page, post };
}

describe('GET /panel/clock and POST /panel/clock', () => {
  it('advances, freezes and resumes the clock', async () => {
    const { sandbox, page, post } = await openFixture();
    const before = sandbox.world.now();
    const answer = await post('/panel/clock', { advance: '30d' });
    expect([answer.status, answer.headers.location]).toEqual([303, '/panel/clock']);
    expect(sandbox.world.now() - before).toBeGreaterThanOrEqual(30 * day);
    expectGolden('sandbox', pageText((await page()).body), 'running');
    await post('/panel/clock', { change: 'freeze', advance: '10m' });
    expect(sandbox.world.clock.frozenAt).not.toBeNull();
    expectGolden('sandbox', pageText((await page()).body), 'frozen');
    await post('/panel/clock', { change: 'resume', advance: '10m' });
    expect(sandbox.world.clock.frozenAt).toBeNull();
  });

  it.each(['', '-1d', '1y', 'x'])('refuses the step %j', async (advance) => {
    const { sandbox, post } = await openFixture();
    const { offset } = sandbox.world.clock;
    expect((await post('/panel/clock', { advance })).status).toBe(422);
    expect(sandbox.world.clock.offset).toBe(offset);
  });
});

describe('POST /panel/faults', () => {
  it('adds a fault and removes all', async () => {
    const { sandbox, page, post } = await openFixture();
    const fields = { request: 'GET /v2/*', action: 'status', status: '503', nth: '2', times: '3', delay: '' };
    expect((await post('/panel/faults', fields)).status).toBe(303);
    expect(sandbox.faults.list()).toMatchObject([
      { match: { method: 'GET', path: '/v2/*' }, action: 'status', status: 503, nth: 2, times: 3 },
    ]);
    expectGolden('sandbox', pageText((await page()).body));
    expect((await post('/panel/faults', { change: 'clear' })).status).toBe(303);
    expect(sandbox.faults.list()).toEqual([]);
  });

  it.each([
    { request: '', action: 'status' },
    { request: 'GET v2', action: 'status' },
    { request: '/v2/<b>', action: '<b>' },
    { request: '/v2/droplets', action: 'delay' },
    { request: '/v2/droplets', action: 'status', status: 'x' },
    { request: '/v2/droplets', action: 'status', times: '0' },
  ])('refuses %j', async (fields) => {
    const { sandbox, post } = await openFixture();
    const answer = await post('/panel/faults', fields);
    expect(answer.status).toBe(422);
    expect(answer.body).toContain('role="alert"');
    expect(answer.body).not.toContain('<b>');
    expect(sandbox.faults.list()).toEqual([]);
  });
});

it.each(['/panel/clock', '/panel/faults'])('POST %s needs the unused token of its page', async (path) => {
  const { sandbox, post } = await openFixture();
  const fields = { advance: '1d', request: '/v2/droplets', action: 'status' };
  expect((await post(path, fields, 'x'.repeat(32))).status).toBe(403);
  expect([sandbox.world.clock.offset, sandbox.faults.list()]).toEqual([0, []]);
});
