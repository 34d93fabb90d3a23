import { STATUS_CODES } from 'node:http';
import type { Page } from './html.ts';
import { noisePage } from './pages.ts';
import type { Refusal } from './refusal.ts';

/** One whole answer of the helper. Every one carries the same protecting headers and ends its connection. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function pageAnswer(page: Page, headers: Readonly<Record<string, string>> = {}): Answer {
  return answer(page.status, page.html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': page.policy,
    ...headers,
  });
}

export function refusalAnswer(refusal: Refusal): Answer {
  return pageAnswer(noisePage(refusal.page), refusal.allow === undefined ? {} : { Allow: refusal.allow });
}

/** 303: the next request is a GET without anything of this one. */
export function redirectAnswer(location: string): Answer {
  return answer(303, '', { Location: location });
}

export function jsonAnswer(value: object): Answer {
  return answer(200, JSON.stringify(value), { 'Content-Type': 'application/json' });
}

/** The answer as bytes, for requests Node's parser gives up on before there is a response object. */
export function rawAnswer({ status, headers, body }: Answer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function answer(status: number, body: string, headers: Readonly<Record<string, string>>): Answer {
  return { status, body, headers: { ...common, 'Content-Length': String(Buffer.byteLength(body)), ...headers } };
}

// No Access-Control-* header, ever: no other origin may read an answer.
const common: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Connection: 'close',
};
