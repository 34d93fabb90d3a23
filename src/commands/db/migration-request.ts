import type { startOnlineMigration } from '../../api/start-online-migration.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { DbSource } from '../../db-source/read-source.ts';

export function buildMigrationRequest(
  { engine, source }: DbSource,
  args: ParsedArgs,
): Parameters<typeof startOnlineMigration>[2] {
  const ignoreDbs = args.values('ignore-dbs');
  return {
    source: {
      host: source.host,
      ...(engine === 'postgresql' ? { dbname: source.dbname } : {}),
      port: source.port,
      ...(source.username === undefined ? {} : { username: source.username }),
      ...(source.password === undefined ? {} : { password: source.password }),
    },
    disableSsl: source.ssl === 'disable',
    ...(ignoreDbs.length === 0 ? {} : { ignoreDbs }),
  };
}
