import { advanceClock, freezeClock, resumeClock } from '../clock.ts';
import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import { readBody } from './body.ts';
import { adminProblem } from './gate.ts';

export function showClock(_request: Request, { world }: Service): Reply {
  return json(200, view(world));
}

/** `{freeze?: true, advance?: "10m", resume?: true}`, carried out in this order. */
export function changeClock(request: Request, { world }: Service): Reply {
  const body = readBody(request);
  if (body === undefined) return adminProblem(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? readStep(body.get('advance')) : 0;
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

/** Milliseconds; undefined for anything that is not a step forward. */
function readStep(value: unknown): number | undefined {
  const [, amount, unit = ''] = typeof value === 'string' ? (/^\+?(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? []) : [];
  const step = typeof value === 'number' ? value : Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return Number.isSafeInteger(step) && step >= 0 && step <= HUNDRED_YEARS ? step : undefined;
}

const HUNDRED_YEARS = 36_525 * 86_400_000;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
