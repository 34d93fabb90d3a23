import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { advanceClock, freezeClock, resumeClock } from '../virtual-clock.ts';
import type { World } from '../world.ts';
import { adminError } from './access.ts';
import { parseDurationMs } from './duration.ts';
import { readJsonBody } from './json-body.ts';

export function showClock(_request: HttpRequest, { world }: SandboxService): HttpReply {
  return jsonReply(200, clockView(world));
}

/**
 * Changes the virtual clock. The members of the body `{freeze?: true, advance?: "10m", resume?: true}` are applied in the order
 * freeze, advance, resume.
 */
export function changeClock(request: HttpRequest, { world }: SandboxService): HttpReply {
  const body = readJsonBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? parseDurationMs(body.get('advance')) : 0;
  if (step === undefined) {
    return adminError(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds; the maximum is 36525d.',
    );
  }
  const invalid = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (invalid !== undefined) return adminError(422, `${invalid} must be true.`);
  if (body.has('freeze')) world.setClock(freezeClock);
  world.setClock((clock) => advanceClock(clock, step));
  if (body.has('resume')) world.setClock(resumeClock);
  return jsonReply(200, clockView(world));
}

function clockView(world: World): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}
