import { expect, it } from 'vitest';
import { callApi, sandboxFor, TOMAS, tokenFor, userOf } from '../requests.ts';

it('GET /v2/account names the person behind the token, and the team of its grant', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const [team] = tomas.teams;
  const read = async (body: object) => {
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, ...body });
    return JSON.parse((await callApi(sandbox, token, 'GET', '/v2/account')).body).account;
  };
  expect(await read({ scope: 'read' })).toMatchObject({ uuid: tomas.uuid, email: TOMAS, team: null });
  expect(await read({ team: team?.uuid })).toMatchObject({ uuid: tomas.uuid, team });
  expect((await callApi(sandbox, 'unknown', 'GET', '/v2/account')).status).toBe(404);
});

it.each([
  [{}, 1_000_000],
  [{ dropletLimit: 5 }, 5],
])('with the options %j, droplet_limit is %i', async (options, limit) => {
  const sandbox = await sandboxFor(options);
  const { access_token } = await tokenFor(sandbox);
  expect(JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/account')).body).account.droplet_limit).toBe(
    limit,
  );
});

it('each context keeps its approval: revoking one leaves the tokens of the other', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const personal = await tokenFor(sandbox, { user: TOMAS });
  const team = await tokenFor(sandbox, { user: TOMAS, team: tomas.teams[0]?.uuid });
  const { world } = sandbox;
  const approvals = world.grants.authorizationsOf(tomas.uuid);
  expect(approvals.map((one) => one.team)).toEqual([undefined, tomas.teams[0]?.uuid]);
  expect(world.grants.latestAuthorization(tomas.uuid, sandbox.ready.client_id)?.team).toBe(tomas.teams[0]?.uuid);
  const [first] = approvals;
  if (first !== undefined) world.grants.revokeAuthorization(first);
  expect((await callApi(sandbox, personal.access_token, 'GET', '/v2/droplets')).status).toBe(404);
  expect((await callApi(sandbox, team.access_token, 'GET', '/v2/droplets')).status).toBe(200);
});
