import type { SandboxHandlerContext } from '../handler-context.ts';
import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { takeSandboxSnapshot } from '../state/snapshot.ts';

/** Responds with the whole state of the sandbox, including its secrets. */
export function handleGetSandboxSnapshot(_request: HttpRequest, { world }: SandboxHandlerContext): HttpReply {
  return jsonReply(200, takeSandboxSnapshot(world));
}
