import { decodeOptionalTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/**
 * The address of this client as the server sees it, which differs behind a port forwarder; undefined for a Unix-domain
 * socket.
 */
export const clientAddressQuery: PostgresqlPreflightQuery<string | undefined> = {
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  decode: ([row = {}]) => decodeOptionalTextColumn(row, 'address'),
  absent: undefined,
};
