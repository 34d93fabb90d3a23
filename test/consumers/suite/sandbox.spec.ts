// A test suite of another project: its API client against the sandbox.
import { type Sandbox, sandboxFixture } from 'cloudctl/sandbox';
import { test as base, expect } from 'vitest';

const test = base.extend<{ sandbox: Sandbox }>({ sandbox: sandboxFixture({ seed: 1 }) });

async function listDroplets({ apiUrl }: Sandbox, token: string): Promise<readonly string[]> {
  const response = await fetch(`${apiUrl}/v2/droplets`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(String(response.status));
  const { droplets } = (await response.json()) as { droplets: { name: string }[] };
  return droplets.map(({ name }) => name);
}

test('the client lists droplets', async ({ sandbox }) => {
  const { accessToken } = sandbox.tokens.issue();
  expect(await listDroplets(sandbox, accessToken)).toContain('web-01');
  expect(sandbox.requests('GET /v2/droplets')).toHaveLength(1);
});

test('the client reports an expired token', async ({ sandbox }) => {
  const { accessToken } = sandbox.tokens.issue();
  sandbox.clock.advance(31 * 86_400_000);
  await expect(listDroplets(sandbox, accessToken)).rejects.toThrow('404');
});

test('the client reports a failing service', async ({ sandbox }) => {
  sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets' }, action: 'status', status: 503 });
  await expect(listDroplets(sandbox, sandbox.tokens.issue().accessToken)).rejects.toThrow('503');
});
