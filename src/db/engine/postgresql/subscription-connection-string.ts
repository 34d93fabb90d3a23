import { getLibpqRequireAuthValue } from '../../../postgresql/authentication-guard.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';

/**
 * Connection string with which the target server connects to the source, password included.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 * @param version server_version_num of the target; libpq before version 16 does not know require_auth
 */
export function buildSubscriptionConnectionString(source: PostgresqlEndpoint, version: number): string {
  const requireAuth = version >= 160_000 ? getLibpqRequireAuthValue(source) : undefined;
  const password = source.password?.reveal() ?? '';
  const options: readonly (readonly [string, string])[] = [
    ['host', source.host],
    ...(source.address === undefined ? [] : [['hostaddr', source.address] as const]),
    ['port', String(source.port)],
    ['dbname', source.dbname],
    ['user', source.username],
    ...(password === '' ? [] : [['password', password] as const]),
    ['sslmode', source.ssl],
    ...(requireAuth === undefined ? [] : [['require_auth', requireAuth] as const]),
    // connect_timeout is set, because a source that does not respond would otherwise block DROP SUBSCRIPTION.
    ['connect_timeout', '10'],
  ];
  return options.map(([name, value]) => `${name}=${quoteValue(value)}`).join(' ');
}

function quoteValue(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
