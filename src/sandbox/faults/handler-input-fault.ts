import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { replaceDropletAliasesInRequestBody } from '../v2/replace-droplet-aliases.ts';
import type { Fault } from './fault.ts';

/** The arguments of a request handler. */
export interface SandboxHandlerInput {
  readonly request: SandboxHttpRequest;
  readonly service: SandboxHandlerContext;
}

/** Changes the input of the handler for an action in HANDLER_INPUT_ALTERING_FAULT_ACTION_NAMES; other actions leave it unchanged. */
export function applyHandlerInputAlteringFault(
  input: SandboxHandlerInput,
  { action, delay = 0 }: Fault,
): SandboxHandlerInput {
  const { request, service } = input;
  if (action === 'normalize_attributes')
    return { service, request: { ...request, body: replaceDropletAliasesInRequestBody(request.body) } };
  if (action === 'lag_lists')
    return { request, service: { ...service, settings: { ...service.settings, listLagMs: delay } } };
  return input;
}
