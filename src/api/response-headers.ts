import type { HttpResponse } from '../platform/http-sender.ts';
import type { ApiResponse } from './api-response.ts';

/** Waiting time in whole seconds: Retry-After (RFC 9110 §10.2.3), else `ratelimit-reset` in epoch seconds. @param now in ms */
export function readRateLimitWaitSeconds(response: HttpResponse, now: number): number | undefined {
  if (response.status !== 429) return undefined;
  const after = response.headers.get('retry-after');
  if (after !== null && /^\d+$/.test(after)) return Number(after);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  const reset = Number(response.headers.get('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(0, Math.ceil(reset - now / 1000)) : undefined;
}

export function readResponseDate({ headers }: HttpResponse): number | undefined {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

export function readApiRateLimit({ headers }: HttpResponse): ApiResponse['limit'] {
  const remaining = headers.get('ratelimit-remaining') ?? '';
  const reset = headers.get('ratelimit-reset') ?? '';
  const isTold = /^\d+$/.test(remaining) && /^\d+$/.test(reset);
  return isTold ? { remaining: Number(remaining), reset: Number(reset) } : undefined;
}
