import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';
import { takeSandboxSnapshot } from '../state/snapshot.ts';

/** Responds with the whole state of the sandbox, including its secrets. */
export const handleGetSandboxSnapshot: SandboxRequestHandler = (_request, { world }) => {
  return jsonReply(200, takeSandboxSnapshot(world));
};
