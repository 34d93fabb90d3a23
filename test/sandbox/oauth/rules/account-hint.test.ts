import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, locationOf, sandboxFor } from '../../requests.ts';

describe('the hint i is six hexadecimal characters', () => {
  it.each(['12345', '1234567', 'abcdeg', '12 456', '0x1234', '1234-5'])('%j is invalid_request', async (i) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt: 'none', i })));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
  });

  it.each([undefined, 'select_account'])('without none it is ignored (prompt %s)', async (prompt) => {
    const sandbox = await sandboxFor();
    expect((await authorize(sandbox, authorizationQuery(sandbox, { prompt, i: 'nonsense' }))).status).toBe(200);
  });
});
