import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';
import { decodeSandboxSnapshot } from '../state/snapshot.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';

/**
 * Replaces the state, including the virtual time, with a snapshot; changes nothing when the snapshot is invalid. Restoring a
 * snapshot does not change the faults and the request log. Responds with the ready line, because people and applications may
 * have changed.
 */
export const handleRestoreSandboxSnapshot: SandboxRequestHandler = (request, service) => {
  const snapshot = decodeSandboxSnapshot(parseOrUndefined(request.body));
  if (typeof snapshot === 'string') return buildAdminErrorReply(422, snapshot);
  service.planes.stopAll();
  service.world.restore(snapshot.seed, snapshot.world, snapshot.now);
  service.limiter.reset();
  return jsonReply(200, service.ready);
};

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
