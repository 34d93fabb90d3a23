import type { SandboxHttpReply } from '../../http/http-reply.ts';
import type { RequestParameters } from '../../http/request-parameters.ts';
import { renderErrorPage } from '../../panel/error-page.ts';
import type { RegisteredApplication } from '../../records.ts';

/** Compares redirect URIs as strings, byte for byte (RFC 9700 §4.1.3), and never redirects to an unregistered URI. */
export function checkRedirectUri(
  parameters: RequestParameters,
  application: RegisteredApplication,
): string | SandboxHttpReply {
  const received = parameters.get('redirect_uri');
  if (!parameters.isRepeated('redirect_uri') && received !== undefined && application.callbackUrls.includes(received)) {
    return received;
  }
  return renderErrorPage(400, 'The redirect uri included is not valid.', [
    ['Received', parameters.isRepeated('redirect_uri') ? '(more than one)' : (received ?? '(none)')],
    ...application.callbackUrls.map((url) => ['Registered', url] as const),
  ]);
}
