import type { PostgresqlSource } from '../../postgresql/source.ts';

/**
 * Connection string with which the target server connects to the source, password included.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 */
export function subscriptionConninfo(source: PostgresqlSource): string {
  const password = source.password?.reveal() ?? '';
  const options: readonly (readonly [string, string])[] = [
    ['host', source.host],
    ...(source.address === undefined ? [] : [['hostaddr', source.address] as const]),
    ['port', String(source.port)],
    ['dbname', source.dbname],
    ['user', source.username],
    ...(password === '' ? [] : [['password', password] as const]),
    ['sslmode', source.ssl],
    // Without a limit, a source that does not answer would block DROP SUBSCRIPTION.
    ['connect_timeout', '10'],
  ];
  return options.map(([name, value]) => `${name}=${quoteValue(value)}`).join(' ');
}

function quoteValue(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
