import { decodePerson, type PersonInTeam } from '../sandbox/admin.ts';
import { grantOf } from '../sandbox/oauth/authorize.ts';
import type { TokenPair } from '../sandbox/records.ts';
import type { World } from '../sandbox/world.ts';
import type { SandboxTokenOperations, SandboxTokenPair } from './sandbox-types.ts';

export function createSandboxTokenOperations(world: World): SandboxTokenOperations {
  const pairOf = (token: string): TokenPair => {
    const pair = world.grants.pair(token) ?? world.grants.pairByRefreshToken(token);
    if (pair === undefined) throw new RangeError('the token was not issued by this sandbox');
    return pair;
  };
  return {
    issue: ({ user = world.seed.people[0]?.uuid ?? '', team, scope = 'read', clientId: client } = {}) => {
      const clientId = client ?? world.seed.applications[0]?.clientId ?? '';
      if (world.registry.application(clientId) === undefined)
        throw new RangeError('clientId must be the client ID of a registered application.');
      const authorization = world.grants.authorize({ ...findPersonInTeam(user, team, world), clientId, scope });
      return tokenPairOf(world.grants.issuePair(grantOf(authorization, scope), 'admin_issue'));
    },
    expire: (token) => world.grants.expire(pairOf(token)),
    revoke: (token) => world.grants.revoke(pairOf(token)),
    refresh: (token) => {
      const pair = pairOf(token);
      const state = world.grants.pairState(pair);
      if (state === 'refreshed' || state === 'revoked') throw new RangeError(`the token pair is ${state}`);
      return tokenPairOf(world.grants.refresh(pair, { by: 'admin_refresh' }));
    },
    state: (token) => world.grants.pairState(pairOf(token)),
  };
}

function tokenPairOf({ accessToken, refreshToken = '', scope, expiresAt }: TokenPair): SandboxTokenPair {
  return { accessToken, refreshToken, scope, expiresAt: new Date(expiresAt) };
}

/** Finds a user and one of the user's teams. Throws a RangeError if the user or the team is unknown. */
export function findPersonInTeam(user: string, team: string | undefined, world: World): PersonInTeam {
  const found = decodePerson(new Map(Object.entries({ user, ...(team === undefined ? {} : { team }) })), world);
  if (typeof found === 'string') throw new RangeError(found);
  return found;
}
