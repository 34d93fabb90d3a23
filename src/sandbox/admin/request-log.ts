import type { SandboxHandlerContext } from '../handler-context.ts';
import { emptyReply, jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';

const MAX_WAIT_MS = 30_000;

/** The parameter `endpoint=METHOD path` filters the logged requests; `wait=N` waits until N of them were logged, for at most 30 s. */
export function handleListLoggedRequests(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
): SandboxHttpReply | Promise<SandboxHttpReply> {
  const endpoint = request.parameters().get('endpoint');
  const wait = request.parameters().get('wait');
  if (wait === undefined) return logView(service, endpoint);
  if (!/^\d{1,5}$/.test(wait)) return buildAdminErrorReply(422, 'wait must be a number of requests from 0 to 99999.');
  return waitFor(request, service, endpoint, Number(wait));
}

export function handleClearRequestLog(_request: SandboxHttpRequest, { log }: SandboxHandlerContext): SandboxHttpReply {
  log.clear();
  return emptyReply(204);
}

async function waitFor(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  endpoint: string | undefined,
  count: number,
): Promise<SandboxHttpReply> {
  const timeLimit = new AbortController();
  // In Node 20 a garbage collection removes an `AbortSignal.timeout` to which only `AbortSignal.any` refers. This timer keeps its
  // signal.
  const timer = setTimeout(() => timeLimit.abort(), MAX_WAIT_MS);
  const signal = AbortSignal.any([timeLimit.signal, service.closing, request.disconnected()]);
  await service.log.waitFor(endpoint, count, signal);
  clearTimeout(timer);
  const seen = service.log.list(endpoint).length;
  if (seen >= count) return logView(service, endpoint);
  return buildAdminErrorReply(408, `${seen} of ${count} requests were logged within ${MAX_WAIT_MS / 1000} s.`);
}

function logView({ log }: SandboxHandlerContext, endpoint: string | undefined): SandboxHttpReply {
  return jsonReply(200, { requests: log.list(endpoint), counts: log.counts() });
}
