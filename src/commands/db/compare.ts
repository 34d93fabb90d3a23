import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { runComparison, targetOption } from '../../db/cutover/index.ts';
import { sourceOptionSpecs } from '../../db/source/index.ts';

export const dbCompare: CommandSpec<CommandContext> = {
  description:
    'Compares the contents of source and target after a migration, before the application is switched over. Both servers are only read.\n\nPostgreSQL: the rows of every table are read on both servers with COPY, in one read-only transaction for each table, and a hash is computed here that does not depend on their order. Large objects and sequences are compared too. Redis: every key is read on both servers, with its type, value and expiry; keys that expire meanwhile are no writes.\n\nWhen the source is written to meanwhile, or the target has not received everything, the result is "not comparable": stop all writes and run the command again. The report lists what was not compared.\n\nThe password of the target is read from the address, CLOUDCTL_TARGET_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: everything that was compared is equal. 1: something differs. 5: no difference is proven, and something could not be compared.',
  options: [
    ...sourceOptionSpecs,
    targetOption,
    {
      name: 'accept',
      valueName: 'TABLE',
      multiple: 'list',
      description:
        'Count a table that cannot be compared, as DATABASE:SCHEMA.TABLE, as checked by you; never one that differs',
    },
  ],
  examples: [
    {
      text: 'Compare all databases before the cut-over',
      command:
        'cloudctl db compare --source postgres://mover@db.example.com/shop --target postgres://admin@cluster.example.com:25061/defaultdb',
    },
    {
      text: 'List the tables that differ',
      command:
        'cloudctl db compare --source postgres://mover@db.example.com/shop -o json --query "databases[].tables[?state==\'differs\'].name"',
    },
  ],
  // The report, and the tables of its rows.
  fields: [
    'schema_version',
    'state',
    'engine',
    'source',
    'target',
    'databases',
    'left_to_stop',
    'not_compared',
    'started_at',
    'seconds',
    'database',
    'kind',
    'name',
    'error',
    'columns_not_compared',
    'acceptable',
    'accepted',
  ],
  run: runComparison,
};
