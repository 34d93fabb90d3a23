import { isAccessTokenRefused } from '../../api/api-response.ts';
import type { Secret } from '../../base/secret.ts';
import { readResponseBodyText } from '../../platform/buffered-response-body.ts';
import { HttpSendError, type HttpSender } from '../../platform/http-sender.ts';

/** Whether the resource API accepts an access token; `unknown` when the API was not reached or its response does not show it. */
export type TokenAcceptance = 'accepted' | 'refused' | 'unknown';

/** A collection that always exists and that every scope may read (docs/service.md S7.2). */
export const probePath = '/v2/actions?page=1&per_page=1';

/** Sends one request; the request is never repeated. */
export async function sendProbe(
  send: HttpSender,
  baseOrigin: string,
  accessToken: Secret,
  signal: AbortSignal,
): Promise<TokenAcceptance> {
  try {
    const answer = await send(`${baseOrigin}${probePath}`, {
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${accessToken.reveal()}` },
      signal,
      redirect: 'manual',
    });
    const body = (await readResponseBodyText(answer, 1024 * 1024)) ?? '';
    if (answer.status >= 200 && answer.status < 300) return 'accepted';
    return isAccessTokenRefused({ status: answer.status, text: () => body }, probePath) ? 'refused' : 'unknown';
  } catch (error) {
    if (error instanceof HttpSendError) return 'unknown';
    throw error;
  }
}
