import type { PostgresqlQuery } from '../query.ts';
import { decodeOptionalText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Where the server sees us come from, which is another address behind a forwarder; undefined: by a socket of its own machine. */
export const clientAddressQuery: PostgresqlQuery<string | undefined> = {
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  decode: ([row = {}]) => decodeOptionalText(row, 'address'),
  absent: undefined,
  grant: grantMonitorRole,
};
