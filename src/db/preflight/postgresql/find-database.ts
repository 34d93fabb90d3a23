import type { PostgresqlDatabase } from './queries/databases.ts';

export function findPostgresqlDatabase(
  databases: readonly PostgresqlDatabase[],
  name: string,
): PostgresqlDatabase | undefined {
  return databases.find((database) => database.name === name);
}
