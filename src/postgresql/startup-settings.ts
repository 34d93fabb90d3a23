import type { DatabaseConnectError } from '../platform/connect-error.ts';

/**
 * Settings that every startup message contains. These settings are in force before the first query. A SET statement
 * would be too late: a login event trigger (PostgreSQL 17 and newer) resolves names before any query, and a query
 * message is parsed before a SET in the message has an effect. The package pg adds client_encoding. This list must
 * contain no setting that a check reads: the reset_val of that setting would be the value from this list.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE
 */
export const postgresqlStartupMessageParameters = {
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  role: 'none',
  search_path: 'pg_catalog, pg_temp',
  standard_conforming_strings: 'on',
} as const;

/**
 * Whether the login may succeed without `postgresqlStartupMessageParameters`. A PostgreSQL server knows all these settings; a pooler
 * rejects a parameter that it does not track as a protocol violation, other products as an unknown parameter, a wrong
 * value or an unsupported feature.
 */
export function isStartupMessageParameterRefusal({ phase, code }: DatabaseConnectError): boolean {
  return phase === 'startup' && refusalCodes.has(code);
}

const refusalCodes: ReadonlySet<string> = new Set(['08P01', '42704', '22023', '0A000']);
