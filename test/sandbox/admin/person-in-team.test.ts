import { expect, test } from 'vitest';
import { decodeRequestedPersonInTeam } from '../../../src/sandbox/admin.ts';
import { MAYA, sandboxFor, TOMAS, userOf } from '../requests.ts';

test('a person is found by e-mail address or UUID, a team by name or UUID', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const decode = (body: object) => decodeRequestedPersonInTeam(new Map(Object.entries(body)), sandbox.world);
  const team = tomas.teams[0]?.uuid;
  expect(decode({ user: TOMAS, team: 'Harbour Works' })).toEqual({ person: tomas.uuid, team });
  expect(decode({ user: tomas.uuid, team })).toEqual({ person: tomas.uuid, team });
  expect(decode({ user: MAYA })).toEqual({ person: userOf(sandbox, MAYA).uuid });
  for (const body of [{}, { user: 'nobody' }, { user: MAYA, team: 'Harbour Works' }])
    expect(decode(body)).toBeTypeOf('string');
});
