import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { readSnapshot } from '../state/snapshot.ts';
import { adminProblem } from './gate.ts';

/**
 * Takes a snapshot and becomes as it was when that was taken, virtual time included, or says why not and changes nothing.
 * Faults and the request log belong to the run and stay. Answers who is registered now.
 */
export function restore(request: Request, service: Service): Reply {
  const snapshot = readSnapshot(parsed(request.body));
  if (typeof snapshot === 'string') return adminProblem(422, snapshot);
  service.planes.abandon();
  service.world.replace(snapshot.seed, snapshot.world, snapshot.now);
  service.limiter.reset();
  return json(200, service.ready);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
