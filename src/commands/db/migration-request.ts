import type { startOnlineMigration } from '../../api/start-online-migration.ts';
import { type CliError, usageError } from '../../base/errors.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { type DbSource, manualCopyCommands } from '../../db/source/index.ts';

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

/**
 * A migration request cannot select a method (docs/service.md S9.1): the service always starts a continuous migration. For a dump or
 * a scan, the user runs the printed commands.
 */
export function methodNotStartableError(source: DbSource, method: 'dump' | 'scan'): CliError {
  return usageError(
    `cannot start a ${method}: the service only starts continuous migrations`,
    'run these commands by hand; nothing was sent to the service',
    manualCopyCommands(source),
  );
}
