import type { ApiRequestHandler } from './api-caller.ts';
import { apiReply } from './api-reply.ts';

/**
 * Shows the person who owns the token and the team of its grant; docs/service.md does not list this endpoint, but clients of the public
 * service use GET /v2/account.
 */
export const handleGetAccountRequest: ApiRequestHandler = (_request, { world, settings }, caller) => {
  const pair = world.pair(caller.accessToken);
  const person = world.registry.person(pair?.person ?? '');
  const team = pair?.team === undefined ? undefined : world.registry.team(pair.team);
  return apiReply(200, {
    account: {
      droplet_limit: Math.min(settings.dropletLimit, MAX_REPORTED_DROPLET_LIMIT),
      name: person?.name,
      email: person?.email,
      uuid: person?.uuid,
      email_verified: true,
      status: 'active',
      status_message: '',
      team: team === undefined ? null : { uuid: team.uuid, name: team.name },
    },
  });
};

/** Clients read a number, and JSON has none for "no limit". */
const MAX_REPORTED_DROPLET_LIMIT = 1_000_000;
