import type { PostgresqlSource } from '../../postgresql/source.ts';

/**
 * How the target's server reaches the source, as libpq reads it
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). It holds the password.
 */
export function subscriptionConninfo(source: PostgresqlSource): string {
  const password = source.password?.reveal() ?? '';
  const words: readonly (readonly [string, string])[] = [
    ['host', source.host],
    ...(source.address === undefined ? [] : [['hostaddr', source.address] as const]),
    ['port', String(source.port)],
    ['dbname', source.dbname],
    ['user', source.username],
    ...(password === '' ? [] : [['password', password] as const]),
    ['sslmode', source.ssl],
    // A source that hangs would hold up whoever drops the subscription.
    ['connect_timeout', '10'],
  ];
  return words.map(([name, value]) => `${name}=${quoteValue(value)}`).join(' ');
}

function quoteValue(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
