import type { ApiResponse } from '../../src/api/api-response.ts';
import { bufferedBody } from '../../src/platform/http-sender.ts';

/** An answer with this body: JSON unless it is a text already. */
export function testResponse(status: number, body: unknown = {}, more: Partial<ApiResponse> = {}): ApiResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    contentType: () => 'application/json',
    requestId: () => undefined,
    retryAfter: undefined,
    text: () => text,
    raw: bufferedBody([Buffer.from(text)]),
    ...more,
  };
}
