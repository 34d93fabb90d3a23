import { decodeFault } from '../faults/decode-fault.ts';
import { emptyReply, type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { adminError } from './access.ts';
import { readJsonBody } from './json-body.ts';

export function listFaults(_request: HttpRequest, { faults }: SandboxService): HttpReply {
  return jsonReply(200, { faults: faults.list() });
}

/**
 * Adds a fault from the body `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`, and responds with
 * the fault and its counters.
 */
export function addFault(request: HttpRequest, { faults }: SandboxService): HttpReply {
  const body = readJsonBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? adminError(422, spec) : jsonReply(201, faults.add(spec));
}

export function clearFaults(_request: HttpRequest, { faults }: SandboxService): HttpReply {
  faults.clear();
  return emptyReply(204);
}
