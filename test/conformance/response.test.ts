import { describe, expect, it } from 'vitest';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { createResponse, DifferenceError, requireOAuthError, summarize, textOf } from './response.ts';
import { playStatements, testedSandbox } from './tested-server.ts';

function responseOf(status: number, body: string | undefined, headers: Readonly<Record<string, string>> = {}) {
  return createResponse('GET /', { status, headers, cookies: [], body });
}

describe('a description of a response', () => {
  it('has no value of a member or parameter that holds a secret', () => {
    const json = { access_token: 'T0', token_type: 'bearer', nested: { client_secret: 'S0', list: [{ code: 'C0' }] } };
    const location = 'https://a.example/cb?code=C1&scope=read&state=S1#access_token=T1';
    const { received } = responseOf(302, JSON.stringify(json), { location });
    for (const secret of ['T0', 'S0', 'C0', 'C1', 'S1', 'T1']) expect(received).not.toContain(secret);
    for (const shown of ['bearer', 'scope=read', '302']) expect(received).toContain(shown);
  });

  it('has the text of a page, without scripts and attributes', () => {
    const page = '<style>.x{}</style><form><input value="csrf-1">The scope</form><script>x</script>';
    const response = responseOf(400, page);
    expect(textOf(response)).toBe('The scope');
    expect(response.received).not.toContain('csrf-1');
  });

  // The time limit of the test ends a text that is read in quadratic time.
  it('of a hostile page takes no long time', () => {
    for (const part of ['<script', '<', 'client ', ' ', '&a;'])
      responseOf(400, part.repeat(2 ** 20 / part.length), { location: `/?${';'.repeat(16_000)}` });
  });
});

it.each([
  [400, '{"error":"invalid_grant"}', '400 invalid_grant'],
  [404, '{"id":"not_found","message":"x"}', '404 not_found'],
  [200, '{"id":5}', '200'],
  [500, '<p>x</p>', '500'],
  [0, '', 'no response'],
])('%i %s is summarized', (status, body, summary) => expect(summarize(responseOf(status, body))).toBe(summary));

it.each([
  [200, '{"error":"invalid_grant","error_description":"x"}'],
  [400, '{"error":"invalid_client","error_description":"x"}'],
  [400, '{"error":"invalid_grant"}'],
  [400, '{"error":"invalid_grant","error_description":5}'],
  [400, 'invalid_grant'],
  [400, undefined],
])('%i %s is not the error invalid_grant', (status, body) =>
  expect(() => requireOAuthError(responseOf(status, body), 'invalid_grant')).toThrow(DifferenceError),
);

describe('a hostile server', () => {
  const only = ['46', '59', '62', '81', '83b', '119', '120', '128b', 'token-order', 'missing-token'];
  const play = async (origin: string) => {
    const sandbox = await sandboxFor();
    const server = await testedSandbox(sandbox, {
      authUrl: origin,
      baseUrl: origin,
      admin: undefined,
      people: undefined,
      allowWrites: false,
      timeoutMs: 150,
    });
    return playStatements(server, only);
  };

  it('with an endless body ends within its limit of bytes or time', async () => {
    const server = await serverFor((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const send = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', send);
      send();
    });
    const { counts } = await play(server.origin);
    expect(counts).toMatchObject({ holds: 0, differs: 8 });
  });

  it('that never responds differs, and the report says so', async () => {
    const server = await serverFor(() => undefined);
    const { results } = await play(server.origin);
    const differing = results.filter(({ status }) => status === 'differs');
    expect(differing).toHaveLength(8);
    for (const { received } of differing) expect(received).toContain(server.origin);
  });

  it('that redirects to itself without end is not followed without end', async () => {
    const server = await serverFor((_, response) => reply(response, 302, '', { location: '/v1/oauth/authorize' }));
    const { counts } = await play(server.origin);
    expect(counts.differs).toBeGreaterThan(5);
    expect(server.seen.length).toBeLessThan(120);
  });
});
