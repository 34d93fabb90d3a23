import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';

/** Responds with the ready line, which the sandbox also prints after its start, and with all registered applications. */
export const handleGetSandboxDescription: SandboxRequestHandler = (_request, { world, ready }) => {
  const applications = world.seed.applications.map(({ name, clientId, clientSecret, callbackUrls }) => {
    return { name, client_id: clientId, client_secret: clientSecret, callback_urls: callbackUrls };
  });
  return jsonReply(200, { ...ready, applications });
};
