import { decodeFault } from '../faults/decode-fault.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { emptyReply, type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { buildAdminErrorReply } from './is-admin-request.ts';
import { readAdminJsonBody } from './json-body.ts';

export function handleListFaults(_request: HttpRequest, { faults }: SandboxHandlerContext): HttpReply {
  return jsonReply(200, { faults: faults.list() });
}

/**
 * Adds a fault from the body `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`, and responds with
 * the fault and its counters.
 */
export function handleAddFault(request: HttpRequest, { faults }: SandboxHandlerContext): HttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? buildAdminErrorReply(422, spec) : jsonReply(201, faults.add(spec));
}

export function handleClearFaults(_request: HttpRequest, { faults }: SandboxHandlerContext): HttpReply {
  faults.clear();
  return emptyReply(204);
}
