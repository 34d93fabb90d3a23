import { empty, json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { adminProblem } from './gate.ts';

const WAIT_AT_MOST_MS = 30_000;

/** `?endpoint=METHOD path` keeps the matching requests, `&wait=N` answers when there are at least so many. */
export function listRequests(request: Request, service: Service): Reply | Promise<Reply> {
  const endpoint = request.parameters().get('endpoint');
  const wait = request.parameters().get('wait');
  if (wait === undefined) return view(service, endpoint);
  if (!/^\d{1,5}$/.test(wait)) return adminProblem(422, 'wait must be a number of requests.');
  return waitFor(request, service, endpoint, Number(wait));
}

export function clearRequests(_request: Request, { log }: Service): Reply {
  log.clear();
  return empty(204);
}

async function waitFor(
  request: Request,
  service: Service,
  endpoint: string | undefined,
  count: number,
): Promise<Reply> {
  const signal = AbortSignal.any([AbortSignal.timeout(WAIT_AT_MOST_MS), service.closing, request.gone()]);
  await service.log.waitFor(endpoint, count, signal);
  const seen = service.log.list(endpoint).length;
  if (seen >= count) return view(service, endpoint);
  return adminProblem(408, `${seen} of ${count} requests were seen in ${WAIT_AT_MOST_MS / 1000} s.`);
}

function view({ log }: Service, endpoint: string | undefined): Reply {
  return json(200, { requests: log.list(endpoint), counts: log.counts() });
}
