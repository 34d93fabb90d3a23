import type { Parameters } from '../../http/parameters.ts';
import type { Reply } from '../../http/reply.ts';
import { errorPage } from '../../panel/error-page.ts';
import type { Application } from '../../records.ts';

/** Compared as a string, byte for byte (RFC 9700 §4.1.3); a redirect URI that is not registered is never followed. */
export function redirectUriIsRegistered(parameters: Parameters, application: Application): string | Reply {
  const received = parameters.get('redirect_uri');
  if (!parameters.isRepeated('redirect_uri') && received !== undefined && application.callbackUrls.includes(received)) {
    return received;
  }
  return errorPage(400, 'The redirect uri included is not valid.', [
    ['Received', parameters.isRepeated('redirect_uri') ? '(more than one)' : (received ?? '(none)')],
    ...application.callbackUrls.map((url) => ['Registered', url] as const),
  ]);
}
