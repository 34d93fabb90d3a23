import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, locationOf, sandboxFor } from '../../requests.ts';

describe('a response_type other than code and token redirects with an error', () => {
  it.each([
    ['id_token', 'unsupported_response_type'],
    ['code token', 'unsupported_response_type'],
    ['CODE', 'unsupported_response_type'],
    ['', 'invalid_request'],
    [undefined, 'invalid_request'],
  ])('%s is %s', async (response_type, error) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, authorizationQuery(sandbox, { response_type, state: 's' }));
    expect(answer.status).toBe(302);
    const to = locationOf(answer);
    expect(to.href.startsWith(sandbox.ready.callback_url)).toBe(true);
    expect(to.searchParams.get('error')).toBe(error);
    expect(to.searchParams.get('error_description')).not.toBeNull();
    expect(to.searchParams.get('state')).toBe('s');
  });
});
