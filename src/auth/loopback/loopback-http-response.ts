import { STATUS_CODES } from 'node:http';
import type { LoopbackHtmlPage } from './html-page.ts';
import { renderLoopbackRefusalPage } from './outcome-page.ts';
import type { LoopbackRefusal } from './refusal.ts';

/** A complete response of the loopback server. Every response has the same security headers and closes its connection. */
export interface LoopbackHttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function buildLoopbackPageResponse(
  page: LoopbackHtmlPage,
  headers: Readonly<Record<string, string>> = {},
): LoopbackHttpResponse {
  return response(page.status, page.html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': page.policy,
    ...headers,
  });
}

export function buildLoopbackRefusalResponse(refusal: LoopbackRefusal): LoopbackHttpResponse {
  return buildLoopbackPageResponse(
    renderLoopbackRefusalPage(refusal.reason),
    refusal.allow === undefined ? {} : { Allow: refusal.allow },
  );
}

/** After a 303 redirect the browser sends a GET request that contains nothing of the original request. */
export function buildLoopbackRedirectResponse(location: string): LoopbackHttpResponse {
  return response(303, '', { Location: location });
}

export function buildLoopbackJsonResponse(value: object): LoopbackHttpResponse {
  return response(200, JSON.stringify(value), { 'Content-Type': 'application/json' });
}

/** The response as text, for requests that Node's HTTP parser rejects before a response object exists. */
export function serializeLoopbackResponse({ status, headers, body }: LoopbackHttpResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function response(status: number, body: string, headers: Readonly<Record<string, string>>): LoopbackHttpResponse {
  return { status, body, headers: { ...commonHeaders, 'Content-Length': String(Buffer.byteLength(body)), ...headers } };
}

// The headers never include Access-Control-*, so that no other origin can read a response.
const commonHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Connection: 'close',
};
