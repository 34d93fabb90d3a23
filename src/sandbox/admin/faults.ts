import { decodeFault } from '../faults/decode.ts';
import { empty, json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { readBody } from './body.ts';
import { adminProblem } from './gate.ts';

export function listFaults(_request: Request, { faults }: Service): Reply {
  return json(200, { faults: faults.list() });
}

/** `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`; answers the fault with its counters. */
export function addFault(request: Request, { faults }: Service): Reply {
  const body = readBody(request);
  if (body === undefined) return adminProblem(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? adminProblem(422, spec) : json(201, faults.add(spec));
}

export function clearFaults(_request: Request, { faults }: Service): Reply {
  faults.clear();
  return empty(204);
}
