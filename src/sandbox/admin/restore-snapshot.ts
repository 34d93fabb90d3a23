import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { parseWorldSnapshot } from '../state/snapshot.ts';
import { adminError } from './access.ts';

/**
 * Takes a snapshot and becomes as it was when that was taken, virtual time included, or says why not and changes nothing.
 * Faults and the request log belong to the run and stay. Answers who is registered now.
 */
export function restoreSnapshot(request: HttpRequest, service: SandboxService): HttpReply {
  const snapshot = parseWorldSnapshot(parsed(request.body));
  if (typeof snapshot === 'string') return adminError(422, snapshot);
  service.planes.stopAll();
  service.world.restore(snapshot.seed, snapshot.world, snapshot.now);
  service.limiter.reset();
  return jsonReply(200, service.ready);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
