import { empty, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';

/** Everything as it was at the start: tokens, sessions, droplets, clock, consent script, request log and faults. Ids and secrets stay. */
export function reset(_request: Request, { world, log, limiter, faults, planes }: Service): Reply {
  planes.abandon();
  world.reset();
  limiter.reset();
  log.clear();
  faults.clear();
  return empty(204);
}
