/** A row of the simple query protocol: every value as the server wrote it. */
export type PostgresqlRow = Readonly<Record<string, string | null>>;
