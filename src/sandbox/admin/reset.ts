import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';

/** Restores the initial state: tokens, sessions, droplets, clock, consent script, request log, faults. People, applications and secrets stay. */
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
