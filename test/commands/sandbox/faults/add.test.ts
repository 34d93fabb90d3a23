import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../../fixtures/golden.ts';
import { testHost } from '../../../fixtures/host.ts';
import { runCloudctl, stableText } from '../../run-cloudctl.ts';
import { startSandboxCommand } from '../start-sandbox.ts';

const ADD = ['sandbox', 'faults', 'add'];

describe('sandbox faults add', () => {
  it('adds the fault that was asked for, and the next request meets it', async () => {
    const host = testHost();
    const { ready } = await startSandboxCommand(host);
    const token = await runCloudctl(host, ['sandbox', 'token', '--user', 'maya@example.com']);
    const words = ['--match', 'GET /v2/actions', '--action', 'status', '--nth', '2', '--times', '3', '--status', '418'];
    const added = await runCloudctl(host, [...ADD, ...words, '--delay', '5ms', '-o', 'json']);
    expect(added.json()).toEqual({
      id: 1,
      match: { method: 'GET', path: '/v2/actions' },
      action: 'status',
      nth: 2,
      times: 3,
      delay: 5,
      status: 418,
      matched: 0,
      applied: 0,
      remaining: 3,
    });
    const env = { CLOUDCTL_ACCESS_TOKEN: token.out.trim(), CLOUDCTL_BASE_URL: ready.base_url ?? '' };
    const codes = [];
    for (let at = 0; at < 2; at += 1) codes.push((await runCloudctl(host, ['actions', 'list'], { env })).code);
    expect(codes).toEqual([0, 1]);
    const requests = await runCloudctl(host, ['sandbox', 'requests', '--endpoint', 'GET /v2/actions', '-o', 'json']);
    expect(requests.json()).toMatchObject([
      { status: 200 },
      { status: 418, fault: 'status', committed: false, delivered: true },
    ]);
  });

  it('takes a grant type in place of an endpoint, and a path without a method', async () => {
    const host = testHost();
    await startSandboxCommand(host);
    const one = await runCloudctl(host, [...ADD, '--grant-type', 'refresh_token', '--action', 'reset', '-o', 'json']);
    expect(one.json()).toMatchObject({ match: { grant_type: 'refresh_token' }, nth: 1, times: 1 });
    const other = await runCloudctl(host, [...ADD, '--match', '/v2/*', '--action', 'delay', '--delay', '2s']);
    expect(other.code).toBe(0);
    expect(other.out).toMatch(/^ID +2\nMatch +\/v2\/\*\nAction +delay\n/);
  });

  it.each<[string, string[]]>([
    ['--action', ['--match', '*']],
    ['--action', ['--match', '*', '--action', 'explode']],
    ['--match', ['--action', 'reset']],
    ['--match', ['--match', 'v2/droplets', '--action', 'reset']],
    ['--match', ['--match', 'post /v2/droplets', '--action', 'reset']],
    ['--match', ['--match', '/v2/droplets?page=1', '--action', 'reset']],
    ['--match', ['--match', '/*/droplets', '--action', 'reset']],
    ['--grant-type', ['--grant-type', 'a b', '--action', 'reset']],
    ['--nth', ['--match', '*', '--action', 'reset', '--nth', '0']],
    ['--times', ['--match', '*', '--action', 'reset', '--times', 'many']],
    ['--delay', ['--match', '*', '--action', 'reset', '--delay', '2 s']],
    ['--delay', ['--match', '*', '--action', 'reset', '--delay', '11m']],
    ['--delay', ['--match', '*', '--action', 'delay']],
    ['--delay', ['--match', '*', '--action', 'commit_late']],
    ['--delay', ['--match', '*', '--action', 'lag_lists']],
    ['--status', ['--match', '*', '--action', 'reset', '--status', '500']],
    ['--status', ['--match', '*', '--action', 'status', '--status', '600']],
  ])('a wrong or missing %s is exit 2 before any request (%j)', async (option, words) => {
    // No sandbox runs: a request would end with another code.
    const ran = await runCloudctl(testHost(), [...ADD, ...words, '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.error()).toMatchObject({ code: 'usage', exit_code: 2, message: expect.stringContaining(option) });
    expectGolden('sandbox', stableText(ran));
  });
});
