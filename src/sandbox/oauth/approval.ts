import type { Reply } from '../http/reply.ts';
import type { Authorization, Mandate, Person, Scope } from '../records.ts';
import type { Service } from '../service.ts';
import { redirectWithError, redirectWithFragment, redirectWithQuery } from './redirects.ts';
import type { Wish } from './wish.ts';

/** The person said yes: the approval is remembered and the application gets its code or token. */
export function approve(wish: Wish, person: Person, team: string | undefined, { world }: Service): Reply {
  const authorization = world.authorize({
    person: person.uuid,
    clientId: wish.application.clientId,
    scope: wish.scope,
    ...(team === undefined ? {} : { team }),
  });
  return deliver(wish, mandateOf(authorization, wish.scope), world);
}

/** What was approved before is given again, in the context it was approved in. */
export function deliver(wish: Wish, mandate: Mandate, world: Service['world']): Reply {
  if (wish.responseType === 'code') {
    const { code } = world.issueCode(mandate, wish.to.redirectUri, wish.challenge);
    return redirectWithQuery(wish.to, { code });
  }
  const pair = world.issuePair(mandate, false);
  return redirectWithFragment(wish.to, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: String((pair.expiresAt - pair.issuedAt) / 1000),
  });
}

/** Reported in the query in both flows (spec §7). */
export function deny(wish: Wish): Reply {
  return redirectWithError(wish.to, 'access_denied', 'The resource owner denied the request.');
}

export function mandateOf(authorization: Authorization, scope: Scope): Mandate {
  const { id, person, clientId, team } = authorization;
  return { authorization: id, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}
