import type { SandboxHandlerContext } from '../handler-context.ts';
import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { takeSandboxSnapshot } from '../state/snapshot.ts';

/** Responds with the whole state of the sandbox, including its secrets. */
export function handleGetSandboxSnapshot(
  _request: SandboxHttpRequest,
  { world }: SandboxHandlerContext,
): SandboxHttpReply {
  return jsonReply(200, takeSandboxSnapshot(world));
}
