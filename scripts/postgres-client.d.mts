/** The program and its first arguments; undefined when Debian has no package of this major version. */
export function postgresClient(
  program: 'pg_dump' | 'psql',
  major: number,
): [program: string, ...words: string[]] | undefined;
