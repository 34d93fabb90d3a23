import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, locationOf, sandboxFor } from '../../requests.ts';

describe('prompt is none or select_account', () => {
  it.each([
    'login',
    'consent',
    'NONE',
    'none select_account',
    'select_account none',
    'none login',
    'none  none',
    ' none',
  ])('%j is invalid_request', async (prompt) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt, state: 's' })));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    expect(answer.searchParams.get('state')).toBe('s');
  });

  it.each(['none', 'login', 'none login'])('%j is ignored in the implicit flow', async (prompt) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(
      sandbox,
      authorizationQuery(sandbox, { prompt, response_type: 'token', i: 'nonsense' }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('<h1>Sign in</h1>');
  });
});
