import type { ApiAnswer } from '../../src/api/problem.ts';
import { bodyOf } from '../../src/platform/body.ts';

/** An answer with this body: JSON unless it is a text already. */
export function answered(status: number, body: unknown = {}, more: Partial<ApiAnswer> = {}): ApiAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    contentType: () => 'application/json',
    requestId: () => undefined,
    retryAfter: undefined,
    text: () => text,
    raw: bodyOf([Buffer.from(text)]),
    ...more,
  };
}
