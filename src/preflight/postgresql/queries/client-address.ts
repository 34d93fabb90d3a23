import type { PostgresqlQuery } from '../query.ts';
import { decodeOptionalText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** The client address that the server sees, which differs behind a forwarder; undefined: a Unix-domain socket. */
export const clientAddressQuery: PostgresqlQuery<string | undefined> = {
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  decode: ([row = {}]) => decodeOptionalText(row, 'address'),
  absent: undefined,
  grant: grantMonitorRole,
};
