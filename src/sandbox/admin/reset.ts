import type { SandboxHandlerContext } from '../handler-context.ts';
import { emptyReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';

export function handleResetSandbox(_request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  resetSandboxState(service);
  return emptyReply(204);
}

/** Restores tokens, sessions, droplets, clock, consent script, request log and faults. People, applications and secrets stay. */
export function resetSandboxState({ world, log, limiter, faults, planes }: SandboxHandlerContext): void {
  planes.stopAll();
  world.reset();
  limiter.reset();
  log.clear();
  faults.clear();
}
