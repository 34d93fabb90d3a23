import { Secret } from '../../src/base/secret.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';

/** The superuser of a server of the fixtures, with TLS. */
export function sourceOf(server: {
  readonly host: string;
  readonly port: number;
  readonly password: string;
}): PostgresqlEndpoint {
  return {
    host: server.host,
    port: server.port,
    dbname: 'postgres',
    username: 'postgres',
    password: new Secret(server.password),
    ssl: 'require',
  };
}
