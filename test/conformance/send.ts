import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface SendOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The time limit of the request with its response, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface RawResponse {
  readonly status: number;
  /** The first value of each header, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** Undefined when the body was longer than 1 MiB. */
  readonly body: string | undefined;
}

/** Sends one request, and throws a SendError when no complete response arrives. */
export type Send = (url: string, options: SendOptions) => Promise<RawResponse>;

/** The message has neither the query nor the headers of the request, which contain secrets. */
export class SendError extends Error {
  override readonly name = 'SendError';
}

const bodyLimit = 1024 * 1024;

/** Uses node:http, which changes neither path, query nor Host, and a connection for each request. Follows no redirect. */
export const sendOverHttp: Send = (url, { method, headers, body, timeoutMs, signal }) => {
  const target = new URL(url);
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const fail = (error: Error): void =>
      reject(
        new SendError(
          isLate
            ? `no response from ${target.origin} in time`
            : `no complete response from ${target.origin}: ${error.message}`,
        ),
      );
    // Node leaves the length out of a DELETE request with a body.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = send(target, { method, headers: { ...length, ...headers }, agent: false, signal }, (response) => {
      readBody(response).then((text) => resolve(rawResponse(response, text)), fail);
    });
    const timer = setTimeout(() => {
      isLate = true;
      request.destroy(new Error('timeout'));
    }, timeoutMs);
    request.on('error', fail);
    request.on('close', () => clearTimeout(timer));
    request.end(body);
  });
};

async function readBody(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    // Leaving the loop ends the response and its connection.
    if (length > bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function rawResponse(response: IncomingMessage, body: string | undefined): RawResponse {
  const headers = Object.entries(response.headersDistinct).map(([name, values]) => [name, values?.[0] ?? '']);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    cookies: response.headers['set-cookie'] ?? [],
    body,
  };
}
