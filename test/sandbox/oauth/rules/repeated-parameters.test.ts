import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, locationOf, sandboxFor } from '../../requests.ts';

describe('a repeated parameter is invalid_request, unknown ones are ignored', () => {
  it.each([
    'response_type=code',
    'scope=read&scope=read',
    'prompt=none&prompt=none',
    'i=123456&i=123456',
    'code_challenge=a&code_challenge=a',
    'code_challenge_method=S256&code_challenge_method=S256',
    'scope=&scope=read',
    'sc%6fpe=read&scope=read',
  ])('%s', async (more) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox, { state: 's' })}&${more}`);
    expect(answer.status).toBe(302);
    expect(locationOf(answer).searchParams.get('error')).toBe('invalid_request');
    expect(locationOf(answer).searchParams.get('state')).toBe('s');
  });

  it('a repeated state is not returned', async () => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, `${authorizationQuery(sandbox)}&state=a&state=b`));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    expect(answer.searchParams.has('state')).toBe(false);
  });

  it('unknown parameters are ignored, even repeated', async () => {
    const sandbox = await sandboxFor();
    expect(
      (await authorize(sandbox, `${authorizationQuery(sandbox)}&nonce=1&nonce=2&audience=x&__proto__=1`)).status,
    ).toBe(200);
  });
});
