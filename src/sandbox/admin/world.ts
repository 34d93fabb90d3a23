import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';

/** The ready line again, with every registered application. */
export function showWorld(_request: Request, { world, ready }: Service): Reply {
  const applications = world.seed.applications.map(({ name, clientId, clientSecret, callbackUrls }) => {
    return { name, client_id: clientId, client_secret: clientSecret, callback_urls: callbackUrls };
  });
  return json(200, { ...ready, applications });
}
