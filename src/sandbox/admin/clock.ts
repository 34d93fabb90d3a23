import { advanceClock, freezeClock, resumeClock } from '../clock.ts';
import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import { readBody } from './body.ts';
import { readDuration } from './duration.ts';
import { adminProblem } from './gate.ts';

export function showClock(_request: Request, { world }: Service): Reply {
  return json(200, view(world));
}

/** `{freeze?: true, advance?: "10m", resume?: true}`, carried out in this order. */
export function changeClock(request: Request, { world }: Service): Reply {
  const body = readBody(request);
  if (body === undefined) return adminProblem(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? readDuration(body.get('advance')) : 0;
  if (step === undefined) {
    return adminProblem(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds, at most 100 years.',
    );
  }
  const odd = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (odd !== undefined) return adminProblem(422, `${odd} must be true.`);
  if (body.has('freeze')) world.setClock(freezeClock);
  world.setClock((clock) => advanceClock(clock, step));
  if (body.has('resume')) world.setClock(resumeClock);
  return json(200, view(world));
}

function view(world: World): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}
