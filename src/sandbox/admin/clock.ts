import type { SandboxHandlerContext } from '../handler-context.ts';
import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { advanceClock, freezeClock, resumeClock } from '../virtual-clock.ts';
import { parseDurationMs } from './duration.ts';
import { buildAdminErrorReply } from './is-admin-request.ts';
import { readAdminJsonBody } from './json-body.ts';

export function handleGetClock(_request: HttpRequest, { world }: SandboxHandlerContext): HttpReply {
  return jsonReply(200, clockView(world));
}

/**
 * Changes the virtual clock. The members of the body `{freeze?: true, advance?: "10m", resume?: true}` are applied in the order
 * freeze, advance, resume.
 */
export function handleChangeClock(request: HttpRequest, { world }: SandboxHandlerContext): HttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? parseDurationMs(body.get('advance')) : 0;
  if (step === undefined) {
    return buildAdminErrorReply(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds; the maximum is 36525d.',
    );
  }
  const invalid = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (invalid !== undefined) return buildAdminErrorReply(422, `${invalid} must be true.`);
  if (body.has('freeze')) world.setClock(freezeClock);
  world.setClock((clock) => advanceClock(clock, step));
  if (body.has('resume')) world.setClock(resumeClock);
  return jsonReply(200, clockView(world));
}

function clockView(world: LiveSandboxState): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}
