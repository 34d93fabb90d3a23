import { emptyReply, type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import { adminError } from './access.ts';

const WAIT_AT_MOST_MS = 30_000;

/** `?endpoint=METHOD path` keeps the matching requests, `&wait=N` answers when there are at least so many. */
export function listLoggedRequests(request: HttpRequest, service: SandboxService): HttpReply | Promise<HttpReply> {
  const endpoint = request.parameters().get('endpoint');
  const wait = request.parameters().get('wait');
  if (wait === undefined) return view(service, endpoint);
  if (!/^\d{1,5}$/.test(wait)) return adminError(422, 'wait must be a number of requests.');
  return waitFor(request, service, endpoint, Number(wait));
}

export function clearRequestLog(_request: HttpRequest, { log }: SandboxService): HttpReply {
  log.clear();
  return emptyReply(204);
}

async function waitFor(
  request: HttpRequest,
  service: SandboxService,
  endpoint: string | undefined,
  count: number,
): Promise<HttpReply> {
  const signal = AbortSignal.any([AbortSignal.timeout(WAIT_AT_MOST_MS), service.closing, request.disconnected()]);
  await service.log.waitFor(endpoint, count, signal);
  const seen = service.log.list(endpoint).length;
  if (seen >= count) return view(service, endpoint);
  return adminError(408, `${seen} of ${count} requests were seen in ${WAIT_AT_MOST_MS / 1000} s.`);
}

function view({ log }: SandboxService, endpoint: string | undefined): HttpReply {
  return jsonReply(200, { requests: log.list(endpoint), counts: log.counts() });
}
