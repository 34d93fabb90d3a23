import { quoteShellArg } from '../../cli/shell-quote.ts';
import { encodeDatabaseNameAsUri } from '../../postgresql/psql-script.ts';
import type { DbSource } from './read-source.ts';

/**
 * The commands with which a user copies the source by hand, without its password: one dump, during which no application
 * may write.
 */
export function manualCopyCommands({ engine, source }: DbSource): string {
  const { host, port } = source;
  if (engine === 'redis') {
    const from = `redis-cli -h ${quoteShellArg(host)} -p ${port}${source.ssl === 'require' ? ' --tls' : ''}`;
    return [
      `${from} --rdb dump.rdb   # stop all writes first`,
      '# then load dump.rdb into the target, or copy each key with SCAN, DUMP and RESTORE',
    ].join('\n');
  }
  const connection = `-h ${quoteShellArg(host)} -p ${port} -U ${quoteShellArg(source.username)} -d ${quoteShellArg(databaseArgument(source.dbname))}`;
  return [
    `pg_dump ${connection} --format=custom --no-owner --file=dump.pgc   # stop all writes first; connect to the server, not to a pooler`,
    'pg_restore --no-owner --dbname="$TARGET" dump.pgc',
  ].join('\n');
}

/** pg_dump accepts connection parameters and URIs as a database name. */
function databaseArgument(name: string): string {
  return /^\w[\w-]*$/.test(name) ? name : (encodeDatabaseNameAsUri(name) ?? name);
}
