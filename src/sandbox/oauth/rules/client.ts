import type { Parameters } from '../../http/parameters.ts';
import type { Reply } from '../../http/reply.ts';
import { errorPage } from '../../panel/error-page.ts';
import type { Application } from '../../records.ts';
import type { World } from '../../world.ts';

/** Without a known client there is nowhere to send an error, so the person is told (RFC 6749 §4.1.2.1). */
export function clientIsKnown(parameters: Parameters, world: World): Application | Reply {
  const clientId = parameters.get('client_id');
  if (parameters.isRepeated('client_id')) return errorPage(400, 'The client id is included more than once.');
  if (clientId === undefined) return errorPage(400, 'The client id is missing.');
  return (
    world.directory.application(clientId) ??
    errorPage(400, 'The client id included is not valid.', [['Received', clientId]])
  );
}
