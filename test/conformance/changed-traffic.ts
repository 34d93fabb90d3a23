import { type Send, sendOverHttp } from './send.ts';

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

/** Sends requests to the sandbox and changes requests or responses on the way, as a faulty server would behave. */
export function changingSend(change: TrafficChange): Send {
  return async (url, { method, headers, body, ...limits }) => {
    const request: PassingRequest = { url: new URL(url), method, headers: { ...headers }, body };
    change.request?.(request);
    const { url: target, ...passed } = request;
    const answer = await sendOverHttp(target.href, { ...passed, ...limits });
    const response: PassingResponse = {
      status: answer.status,
      headers: { ...answer.headers },
      body: answer.body ?? '',
    };
    change.response?.(response, { ...request, url: new URL(url) });
    return { ...response, cookies: answer.cookies };
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
