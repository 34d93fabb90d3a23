import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { takeSnapshot } from '../state/snapshot.ts';

/** The whole state, secrets included. */
export function showSnapshot(_request: Request, { world }: Service): Reply {
  return json(200, takeSnapshot(world));
}
