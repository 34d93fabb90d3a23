import type { SandboxHandlerContext } from '../handler-context.ts';
import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';

/** Responds with the ready line, which the sandbox also prints after its start, and with all registered applications. */
export function handleGetSandboxDescription(_request: HttpRequest, { world, ready }: SandboxHandlerContext): HttpReply {
  const applications = world.seed.applications.map(({ name, clientId, clientSecret, callbackUrls }) => {
    return { name, client_id: clientId, client_secret: clientSecret, callback_urls: callbackUrls };
  });
  return jsonReply(200, { ...ready, applications });
}
