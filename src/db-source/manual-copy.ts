import { quoteShellArg } from '../cli/shell-quote.ts';
import type { DbSource } from './read-source.ts';

/** The commands a person runs for a point-in-time copy, with the source filled in and no password in them. */
export function manualCopyCommands({ engine, source }: DbSource): string {
  const { host, port } = source;
  if (engine === 'redis') {
    const from = `redis-cli -h ${quoteShellArg(host)} -p ${port}${source.ssl === 'require' ? ' --tls' : ''}`;
    return [
      `${from} --rdb dump.rdb   # while nobody writes`,
      'then load dump.rdb into the target, or copy key by key with SCAN, DUMP and RESTORE',
    ].join('\n');
  }
  const connection = `-h ${quoteShellArg(host)} -p ${port} -U ${quoteShellArg(source.username)} -d ${quoteShellArg(source.dbname)}`;
  return [
    `pg_dump ${connection} --format=custom --no-owner --file=dump.pgc   # directly, not through a pooler; while nobody writes`,
    'pg_restore --no-owner --dbname="$TARGET" dump.pgc',
  ].join('\n');
}
