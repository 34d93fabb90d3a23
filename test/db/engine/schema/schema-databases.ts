import { Secret } from '../../../../src/base/secret.ts';
import { copyByCatalogs } from '../../../../src/db/engine/schema/catalog.ts';
import { withSide } from '../../../../src/db/engine/schema/session.ts';
import type { SchemaCopier } from '../../../../src/db/engine/schema/target.ts';
import { withWriter } from '../../../../src/db/engine/schema/target.ts';
import type { PostgresqlEndpoint } from '../../../../src/postgresql/endpoint.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';

/** How its superuser enters one database of a test's server. */
export function databaseEndpointOf(server: Postgres, dbname: string): PostgresqlEndpoint {
  return {
    host: server.host,
    port: server.port,
    dbname,
    username: 'postgres',
    password: new Secret(server.password),
    ssl: 'disable',
  };
}

/** Copies a schema in sessions of its own. */
export const copySchemaFromCatalog: SchemaCopier = (from, to, signal, superuser) =>
  withSide(from, signal, (source) =>
    withSide(to, signal, (target) =>
      withWriter({ source, target }, superuser, signal, (writer) => copyByCatalogs(from, { source, target }, writer)),
    ),
  );

/** Makes an empty database and gives its name. */
export async function createEmptyDatabase(server: Postgres): Promise<string> {
  const [row] = await server.query(`SELECT 'db_' || count(*) AS name FROM pg_database`);
  const name = String(row?.name);
  await server.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  return name;
}

/** Runs each statement by itself, and names the one that fails. */
export async function runStatements(server: Postgres, database: string, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await server.query(statement, database).catch((cause) => {
      throw new Error(`could not run: ${statement}`, { cause });
    });
  }
}
