import type { HttpResponse, HttpSender } from '../../src/platform/http-sender.ts';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';

/** A request on its way to the sandbox. The URL and the members may be replaced. */
export interface PassingRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A response on its way back. */
export interface PassingResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface TrafficChange {
  readonly request?: (request: PassingRequest) => void;
  readonly response?: (response: PassingResponse, request: PassingRequest) => void;
}

const headerNames = ['content-type', 'location', 'set-cookie', 'www-authenticate'];

/** Sends requests to the sandbox and changes requests or responses on the way, as a faulty server would behave. */
export async function createChangingSender(change: TrafficChange): Promise<HttpSender> {
  const send = await createUndiciSender({ env: {} });
  return async (url, init) => {
    const request: PassingRequest = {
      url: new URL(url),
      method: init.method,
      headers: { ...init.headers },
      body: init.body,
    };
    change.request?.(request);
    const { method, headers, body } = request;
    const answer = await send(request.url.href, {
      ...init,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const kept = headerNames.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const response: PassingResponse = {
      status: answer.status,
      headers: Object.fromEntries(kept),
      body: await answer.text(),
    };
    change.response?.(response, { ...request, url: new URL(url) });
    return httpResponse(response);
  };
}

/** Changes a JSON body. */
export function changeJson(response: PassingResponse, change: (json: Record<string, unknown>) => unknown): void {
  if (!response.headers['content-type']?.includes('json') || response.body === '') return;
  const json = JSON.parse(response.body);
  response.body = JSON.stringify(change(json) ?? json);
}

export function isPath(request: PassingRequest, method: string, path: RegExp): boolean {
  return request.method === method && path.test(request.url.pathname);
}

function httpResponse({ status, headers, body }: PassingResponse): HttpResponse {
  return {
    status,
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    text: async () => body,
    body: (async function* () {
      yield Buffer.from(body);
    })(),
  };
}
