import { describe, expect, it } from 'vitest';
import {
  admin,
  authorizationQuery,
  authorize,
  exchangeParameters,
  locationOf,
  MAYA,
  postToken,
  sandboxFor,
} from '../../requests.ts';

describe('a scope other than read and read write is a page', () => {
  it.each([
    ['', 'read'],
    ['&scope=', 'read'],
    ['&scope=read', 'read'],
    ['&scope=read+write', 'read write'],
    ['&scope=read%20write', 'read write'],
    ['&scope=write%20read', 'read write'],
  ])('%s grants %s', async (parameter, granted) => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}${parameter}`);
    const code = locationOf(answer).searchParams.get('code') ?? '';
    const grant = await postToken(sandbox, exchangeParameters(sandbox, code));
    expect(JSON.parse(grant.body).scope).toBe(granted);
  });

  it.each([
    'write',
    'READ',
    'Read Write',
    'read,write',
    'read read',
    'read write read',
    'read  write',
    ' read',
    'read ',
    'admin',
    'read admin',
    'read\twrite',
    '"read"',
    '<b>',
  ])('%j is a page and never a redirect', async (scope) => {
    const sandbox = await sandboxFor();
    for (const response_type of ['code', 'token', 'nonsense']) {
      const answer = await authorize(sandbox, authorizationQuery(sandbox, { scope, response_type, state: 's' }));
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.body).toContain('<dt>Valid</dt><dd>read write</dd>');
      expect(answer.body).not.toContain('<b>');
    }
  });
});
