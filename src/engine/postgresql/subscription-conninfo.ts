import type { PostgresSource } from '../../postgresql/source.ts';

/**
 * How the target's server reaches the source, as libpq reads it
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). It holds the password.
 */
export function subscriptionConninfo(source: PostgresSource): string {
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
  return words.map(([name, value]) => `${name}=${quoted(value)}`).join(' ');
}

function quoted(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
