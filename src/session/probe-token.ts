import { isTokenRefused } from '../api/api-response.ts';
import { readBodyText } from '../platform/buffered-body.ts';
import { type HttpSender, SendError } from '../platform/http-sender.ts';
import type { Secret } from '../secret.ts';

/** What the resource API thinks of an access token; `unknown` when it could not be asked or did not say. */
export type TokenAcceptance = 'accepted' | 'refused' | 'unknown';

const path = '/v2/actions?page=1&per_page=1';

/** One request to a collection that every scope may read and that cannot be missing (spec.md §4.5), never repeated. */
export async function probeToken(
  send: HttpSender,
  baseOrigin: string,
  accessToken: Secret,
  signal: AbortSignal,
): Promise<TokenAcceptance> {
  try {
    const answer = await send(`${baseOrigin}${path}`, {
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${accessToken.reveal()}` },
      signal,
      redirect: 'manual',
    });
    const body = (await readBodyText(answer, 1024 * 1024)) ?? '';
    if (answer.status >= 200 && answer.status < 300) return 'accepted';
    return isTokenRefused({ status: answer.status, text: () => body }, path) ? 'refused' : 'unknown';
  } catch (error) {
    if (error instanceof SendError) return 'unknown';
    throw error;
  }
}
