import { empty, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';

/** Everything as it was at the start: tokens, sessions, droplets, clock, consent script and request log. Ids and secrets stay. */
export function reset(_request: Request, { world, log, limiter }: Service): Reply {
  world.reset();
  limiter.reset();
  log.clear();
  return empty(204);
}
