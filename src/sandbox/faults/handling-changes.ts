import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { normalizeDropletAttributes } from '../v2/normalize-droplet-attributes.ts';
import type { Fault } from './fault.ts';

/** What a handler gets. */
export interface RequestHandlerInput {
  readonly request: HttpRequest;
  readonly service: SandboxService;
}

/** The input of the handler with a change of the handling; unchanged for the other actions. */
export function applyRequestHandlingFault(
  input: RequestHandlerInput,
  { action, delay = 0 }: Fault,
): RequestHandlerInput {
  const { request, service } = input;
  if (action === 'normalize_attributes')
    return { service, request: { ...request, body: normalizeDropletAttributes(request.body) } };
  if (action === 'lag_lists')
    return { request, service: { ...service, settings: { ...service.settings, listLagMs: delay } } };
  return input;
}
