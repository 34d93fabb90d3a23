import type { SandboxHttpReply } from '../../http/http-reply.ts';
import type { RequestParameters } from '../../http/request-parameters.ts';
import type { LiveSandboxState } from '../../live-sandbox-state.ts';
import { renderErrorPage } from '../../panel/error-page.ts';
import type { RegisteredApplication } from '../../records.ts';

/** The error is shown as a page, because without a known client there is no valid redirect URI (RFC 6749 §4.1.2.1). */
export function validateAuthorizationRequestClient(
  parameters: RequestParameters,
  world: LiveSandboxState,
): RegisteredApplication | SandboxHttpReply {
  const clientId = parameters.get('client_id');
  if (parameters.isRepeated('client_id')) return renderErrorPage(400, 'The client id is included more than once.');
  if (clientId === undefined) return renderErrorPage(400, 'The client id is missing.');
  return (
    world.registry.application(clientId) ??
    renderErrorPage(400, 'The client id included is not valid.', [['Received', clientId]])
  );
}
