import type { Ask } from '../ask.ts';
import { textOrNone } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** Where the server sees us come from, which is another address behind a forwarder; undefined: by a socket of its own machine. */
export const clientAddress: Ask<string | undefined> = {
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  decode: ([row = {}]) => textOrNone(row, 'address'),
  absent: undefined,
  grant: grantMonitor,
};
