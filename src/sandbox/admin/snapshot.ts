import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { takeSnapshot } from '../state/snapshot.ts';

/** Responds with the whole state of the sandbox, including its secrets. */
export function replyWithStateSnapshot(_request: HttpRequest, { world }: SandboxService): HttpReply {
  return jsonReply(200, takeSnapshot(world));
}
