import { decodeFault } from '../faults/decode-fault.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { emptyReply, jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';
import { readAdminJsonBody } from './json-body.ts';

export function handleListFaults(_request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  return jsonReply(200, { faults: faults.list() });
}

/**
 * Adds a fault from the body `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`, and responds with
 * the fault and its counters.
 */
export function handleAddFault(request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? buildAdminErrorReply(422, spec) : jsonReply(201, faults.add(spec));
}

export function handleClearFaults(_request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  faults.clear();
  return emptyReply(204);
}
