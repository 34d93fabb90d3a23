import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkClockSkew, checkEndpoint, checkTrust } from '../../../src/auth/doctor/servers.ts';
import { Trust } from '../../../src/platform/trust.ts';
import { undiciSender } from '../../../src/platform/undici-sender.ts';

describe('the clock', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  const date = new Date(at).toUTCString();
  test.each([
    ['the same', at, 'ok', undefined],
    ['59 s ahead', at + 59_000, 'ok', undefined],
    ['two minutes ahead', at + 121_000, 'warning', '120 s ahead'],
    ['two minutes behind', at - 120_000, 'warning', '120 s behind'],
    ['a month ahead', at + 30 * 86_400_000, 'warning', 'ahead'],
  ] as const)('%s', (_, now, status, words) => {
    const [finding] = checkClockSkew('auth-url', date, now, now);
    expect(finding?.status).toBe(status);
    if (words !== undefined) expect(finding?.observed).toContain(words);
  });

  test('a slow response is not a clock difference', () => {
    expect(checkClockSkew('auth-url', date, at - 50_000, at + 50_000)[0]?.status).toBe('ok');
  });

  test.each([null, 'yesterday'])('with a Date header of %s the check is skipped', (header) => {
    expect(checkClockSkew('base-url', header, at, at)).toEqual([
      { id: 'clock-of-base-url', status: 'skipped', observed: expect.stringContaining('Date') },
    ]);
  });
});

const hints = { unreachable: 'start it', check: '`show it`' };

describe('an endpoint', () => {
  async function ask(status: number, id: 'auth-url' | 'base-url' = 'auth-url') {
    const server = createServer((_, answer) => answer.writeHead(status).end('x'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return probe(id, `http://127.0.0.1:${port}`);
  }
  async function probe(id: 'auth-url' | 'base-url', origin: string) {
    const send = await undiciSender({ env: {}, fresh: true });
    return checkEndpoint({ id, origin, path: '/v1/oauth/authorize', ...hints }, { send, now: Date.now, timeout: 5000 });
  }

  test.each([
    [200, 'auth-url', 'ok'],
    [400, 'auth-url', 'ok'],
    [401, 'base-url', 'ok'],
    [404, 'base-url', 'ok'],
    [404, 'auth-url', 'failed'],
    [503, 'auth-url', 'warning'],
  ] as const)('%i of %s', async (status, id, verdict) => {
    const [reached, clock] = await ask(status, id);
    expect(reached).toMatchObject({ id, status: verdict });
    expect(clock?.status).toBe('ok');
  });

  test('without a server the check fails, and the clock is not checked', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const findings = await probe('auth-url', `http://127.0.0.1:${port}`);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ status: 'failed', hint: hints.unreachable });
  });
});

describe('the CA certificates', () => {
  test('are no finding where none were named or needed', () => {
    expect(checkTrust(new Trust({}))).toEqual([]);
  });

  test('that cannot be read are a failure, and the servers are not asked', async () => {
    const env = { SSL_CERT_FILE: '/dev/null/ca.pem' };
    expect(checkTrust(new Trust(env))).toMatchObject([{ id: 'certificates', status: 'failed' }]);
    const send = await undiciSender({ env, fresh: true });
    const endpoint = { id: 'base-url', origin: 'https://api.example.test', path: '/', ...hints } as const;
    const findings = await checkEndpoint(endpoint, { send, now: Date.now, timeout: 5000 });
    expect(findings).toMatchObject([{ id: 'base-url', status: 'skipped' }]);
  });
});
