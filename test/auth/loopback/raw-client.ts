import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { type LoopbackOptions, type LoopbackServer, startLoopback } from '../../../src/auth/loopback/server.ts';
import { type AuthorizationResult, validateResponse } from '../../../src/auth/oauth/authorize.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { state } from './loopback-fixture.ts';

export interface Started {
  readonly loopback: LoopbackServer<AuthorizationResult>;
  readonly port: number;
  readonly host: string;
  /** What `finish` was called with. */
  readonly finishes: readonly AuthorizationResult[];
}

/** A real helper on a free port, closed behind its test. */
export async function start(own: Partial<LoopbackOptions<AuthorizationResult>> = {}): Promise<Started> {
  const finishes: AuthorizationResult[] = [];
  const flow = own.flow ?? 'code';
  const finish = own.finish ?? (async () => ({ kind: 'signed_in', name: 'Sammy' }) as const);
  const loopback = await startLoopback<AuthorizationResult>({
    callbackUrls: ['http://127.0.0.1:0/callback'],
    flow,
    authorizationOrigin: 'https://cloud.example.com',
    validate: (parameters, place) => validateResponse(parameters, place, { state, flow }),
    authorizationUrl: (callbackUrl) =>
      `https://cloud.example.com/v1/oauth/authorize?redirect_uri=${encodeURIComponent(callbackUrl)}`,
    random: (bytes) => randomBytes(bytes),
    clock: systemClock,
    ...own,
    finish: (accepted) => {
      finishes.push(accepted);
      return finish(accepted);
    },
  });
  const { port, host } = new URL(loopback.callbackUrl);
  ends.push(() => loopback.close());
  return { loopback, port: Number(port), host, finishes };
}

let ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
});

/** Fifty times as fast: five seconds are a tenth. */
export const hurried = {
  now: systemClock.now,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly text: string;
}

/** Sends bytes as they are and reads until the helper hangs up. */
export async function send(port: number, text: string, address = '127.0.0.1'): Promise<RawAnswer> {
  const socket = connect({ port, host: address });
  const heard = hear(socket);
  socket.write(text);
  return heard;
}

export function get(started: Started, target: string, ...headers: readonly string[]): Promise<RawAnswer> {
  return send(started.port, head('GET', target, `Host: ${started.host}`, ...headers));
}

export function head(method: string, target: string, ...headers: readonly string[]): string {
  return `${method} ${target} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** Everything the helper says on a socket until its end. */
export function hear(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(parse(text)));
  });
}

/** Rule 27: every answer, whatever its status. */
export function protectedAnswer(answer: RawAnswer): void {
  const { headers } = answer;
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(answer.text.toLowerCase()).not.toContain('access-control');
}

/** Whether anybody still listens there. */
export function listening(port: number, address = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: address });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: end < 0 ? '' : text.slice(end + 4), text };
}
