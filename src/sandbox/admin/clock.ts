import type { SandboxHandlerContext } from '../handler-context.ts';
import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { advanceVirtualClock, freezeVirtualClock, resumeVirtualClock } from '../virtual-clock.ts';
import { parseSandboxDurationToMilliseconds } from './duration.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';
import { readAdminJsonBody } from './json-body.ts';

export function handleGetClock(_request: SandboxHttpRequest, { world }: SandboxHandlerContext): SandboxHttpReply {
  return jsonReply(200, clockView(world));
}

/**
 * Changes the virtual clock. The members of the body `{freeze?: true, advance?: "10m", resume?: true}` are applied in the order
 * freeze, advance, resume.
 */
export function handleChangeClock(request: SandboxHttpRequest, { world }: SandboxHandlerContext): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? parseSandboxDurationToMilliseconds(body.get('advance')) : 0;
  if (step === undefined) {
    return buildAdminErrorReply(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds; the maximum is 36525d.',
    );
  }
  const invalid = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (invalid !== undefined) return buildAdminErrorReply(422, `${invalid} must be true.`);
  if (body.has('freeze')) world.setClock(freezeVirtualClock);
  world.setClock((clock) => advanceVirtualClock(clock, step));
  if (body.has('resume')) world.setClock(resumeVirtualClock);
  return jsonReply(200, clockView(world));
}

function clockView(world: LiveSandboxState): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}
