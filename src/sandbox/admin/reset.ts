import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';

/**
 * Restores the initial state of tokens, sessions, droplets, clock, consent script, request log and faults. A reset does not
 * change people, applications and secrets.
 */
export function resetSandbox(
  _request: HttpRequest,
  { world, log, limiter, faults, planes }: SandboxService,
): HttpReply {
  planes.stopAll();
  world.reset();
  limiter.reset();
  log.clear();
  faults.clear();
  return emptyReply(204);
}
