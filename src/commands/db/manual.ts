import type { Source } from './source.ts';

/** The commands a person runs for a point-in-time copy, with the source filled in and no password in them. */
export function manualCommands({ engine, source }: Source): string {
  const { host, port } = source;
  if (engine === 'redis') {
    const from = `redis-cli -h ${shellWord(host)} -p ${port}${source.ssl === 'require' ? ' --tls' : ''}`;
    return [
      `${from} --rdb dump.rdb   # while nobody writes`,
      'then load dump.rdb into the target, or copy key by key with SCAN, DUMP and RESTORE',
    ].join('\n');
  }
  const connection = `-h ${shellWord(host)} -p ${port} -U ${shellWord(source.username)} -d ${shellWord(source.dbname)}`;
  return [
    `pg_dump ${connection} --format=custom --no-owner --file=dump.pgc   # directly, not through a pooler; while nobody writes`,
    'pg_restore --no-owner --dbname="$TARGET" dump.pgc',
  ].join('\n');
}

/** A word as a shell reads it. */
export function shellWord(text: string): string {
  return /^[\w.:@/%,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
