import { expect, test } from 'vitest';
import { buildSandboxGrantOfAuthorization } from '../../../src/sandbox/oauth/authorize.ts';
import { MAYA, sandboxFor, userOf } from '../requests.ts';

test('a grant has the person, the application and the granted scope of its authorization', async () => {
  const sandbox = await sandboxFor();
  const person = userOf(sandbox, MAYA).uuid;
  const clientId = sandbox.ready.client_id;
  const authorization = sandbox.world.grants.authorize({ person, clientId, scope: 'read write' });
  const grant = buildSandboxGrantOfAuthorization(authorization, 'read');
  expect(grant).toEqual({ authorization: authorization.id, person, clientId, scope: 'read' });
});
