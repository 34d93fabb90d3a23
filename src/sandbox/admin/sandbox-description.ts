import type { SandboxHandlerContext } from '../handler-context.ts';
import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';

/** Responds with the ready line, which the sandbox also prints after its start, and with all registered applications. */
export function handleGetSandboxDescription(
  _request: SandboxHttpRequest,
  { world, ready }: SandboxHandlerContext,
): SandboxHttpReply {
  const applications = world.seed.applications.map(({ name, clientId, clientSecret, callbackUrls }) => {
    return { name, client_id: clientId, client_secret: clientSecret, callback_urls: callbackUrls };
  });
  return jsonReply(200, { ...ready, applications });
}
