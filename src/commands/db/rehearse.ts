import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { rehearse, targetOptions } from '../../db/cutover/rehearse/index.ts';
import { preflightOptionSpecs, reportOptionSpecs } from '../../db/preflight/index.ts';
import { sourceOptionSpecs } from '../../db/source/index.ts';

export const dbRehearse: CommandSpec<CommandContext> = {
  description:
    'Rehearses a migration without the service. It runs the preflight, migrates the databases into an empty staging server of yours, and shows the progress as `db watch` does. When all rows are replicated, it counts the rows of every table and compares the sequences on both servers. Then it removes everything that it created. The report lists what would have failed.\n\nDuring the rehearsal every database of the source has a publication and a replication slot, which retains WAL. The target has the databases and roles of the source. With a superuser of the target, a role without SUPERUSER owns each copy, so that no code of the source runs as a superuser there. They are removed at the end, also after Ctrl-C or a failure; the next rehearsal removes what a killed one left, and lists what others may have created. A database of the target that is not empty is an error and is not changed. The target must reach the source under the host name given here. If the source allows only a dump, the dump is rehearsed. A Redis target becomes a replica of the source and is emptied at the end.\n\nThe password of the target is read from the address, CLOUDCTL_REHEARSE_INTO_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: the compared data is equal. 1: something would have failed. 5: no data could be proven equal. 3: the migration is not possible, and nothing was changed.',
  options: [
    ...sourceOptionSpecs,
    {
      name: 'into',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
    },
    ...preflightOptionSpecs.filter(({ name }) => !targetOptions.includes(name)),
    { name: 'keep', description: 'Keep the copies on the target' },
    {
      name: 'allow-superuser-objects',
      description:
        'Create objects that need a superuser of the target, such as untrusted extensions and event triggers',
    },
    {
      name: 'stall-timeout',
      valueName: 'DURATION',
      description: 'Time without progress after which the rehearsal fails (default: 60s)',
    },
    { name: 'interval', valueName: 'DURATION', description: 'Polling interval (default: 1s)' },
    { name: 'report', valueName: 'FILE', description: 'Write the report to FILE as JSON', completion: 'file' },
    ...reportOptionSpecs.filter(({ name }) => name === 'fix-sql' || name === 'undo-sql'),
  ],
  examples: [
    {
      text: 'Rehearse into a staging server',
      command:
        'cloudctl db rehearse --source postgres://mover@db.example.com/shop --into postgres://postgres@staging.example.com/postgres',
    },
    {
      text: 'Rehearse in a script and write the report to a file',
      command:
        'CLOUDCTL_REHEARSE_INTO=postgres://… cloudctl db rehearse --source postgres://mover@db.example.com/shop --yes --report rehearsal.json',
    },
    {
      text: 'Rehearse a Redis migration and keep the copy',
      command: 'cloudctl db rehearse --source redis://cache.example.com --into redis://staging.example.com --keep',
    },
  ],
  // The report, and the tables of its rows.
  fields: [
    'schema_version',
    'ok',
    'engine',
    'method',
    'source',
    'target',
    'databases',
    'failures',
    'not_proven',
    'not_compared',
    'violations',
    'warnings',
    'left',
    'kept',
    'preflight',
    'started_at',
    'seconds',
    'database',
    'state',
    'name',
    'rows_source',
    'rows_target',
    'error',
    'columns_not_compared',
  ],
  run: (context, args) => rehearse(context, args, context.settings),
};
