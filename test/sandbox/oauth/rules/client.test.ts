import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, sandboxFor } from '../../requests.ts';

describe('an unknown, missing or repeated client_id is a page and never a redirect', () => {
  it.each([
    ['unknown', 'client_id=someone'],
    ['markup', 'client_id=%3Cscript%3E'],
    ['missing', ''],
    ['empty', 'client_id='],
  ])('%s', async (_name, clientId) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox, { client_id: undefined })}&${clientId}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.location).toBeUndefined();
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).not.toContain('<script>');
  });

  it('repeated, even with the same value', async () => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}&client_id=${sandbox.ready.client_id}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.location).toBeUndefined();
  });
});
