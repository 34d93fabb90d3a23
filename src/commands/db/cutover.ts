import type { CommandSpec } from '../../cli/command.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { runCutover, targetOption } from '../../db/cutover/index.ts';
import { clusterArgument, sourceOptionSpecs } from '../../db/source/index.ts';
import { watchOptions } from '../../db/watch/index.ts';

export const dbCutover: CommandSpec<CommandContext> = {
  description:
    'Prints a checklist for the cut-over, with the state of each line, and the command for the next one: the target accepts the login; nothing writes to the source; the target has received everything; the sequences of the target have the values of the source (PostgreSQL); source and target have the same contents; the migration is stopped. For PostgreSQL also: extensions, definitions, passwords, large objects, materialized views, statistics, roles, owners and privileges, default privileges, settings. Run it again after each step. It only reads, from both servers and from the service; it changes nothing.\n\nWith --follow it keeps its connections and prints each line when it is done: it waits for the end of the writes, lists the sessions that could write, prints how to keep them out, and compares both sides at once. With --apply it then sets the sequences of the target, stops the migration, waits until nothing of it is left, and runs ANALYZE and the statements of `db grants` on the target; without, it prints these commands and waits for their effect. A run that was interrupted is continued by the same command, and --report keeps the events of earlier runs. A run that ends without success says how to unlock a source that is read-only.\n\nA line that depends on the ones above is checked when they are done. The comparison of the contents reads all rows of both servers, so it takes as long as a copy. The password of the target is read from the address, CLOUDCTL_TARGET_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: every line is done, and the application can be switched to the target. 5: a line is left.',
  arguments: [clusterArgument],
  options: [
    ...sourceOptionSpecs,
    targetOption,
    ...watchOptions.filter(({ name }) => name === 'slot'),
    {
      name: 'accept',
      valueName: 'LINE|TABLE',
      multiple: 'list',
      description:
        'Count a line, such as passwords, or a table that cannot be compared, as DATABASE:SCHEMA.TABLE, as checked by you',
    },
    { name: 'follow', description: 'Keep the connections, and follow the cut-over until every line is done' },
    {
      name: 'apply',
      description:
        'With --follow: set the sequences, stop the migration and restore owners and privileges, after one confirmation',
    },
    {
      name: 'compare',
      valueName: 'WHICH',
      choices: ['all', 'changed', 'none'],
      description: 'With --follow: compare all tables (default), those that changed since the start, or none',
    },
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'With --follow: end with exit code 5 after so long without progress (default: 1h)',
    },
    {
      name: 'report',
      valueName: 'FILE.html',
      completion: 'file',
      description: 'With --follow: write each step, with its time and its evidence, to this file',
    },
  ],
  examples: [
    {
      text: 'See what is left to do before the cut-over',
      command:
        'cloudctl db cutover 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop --target postgres://admin@cluster.example.com:25061/defaultdb',
    },
  ],
  fields: ['at', 'id', 'state', 'title', 'observed'],
  run: (context, args) => runCutover(context, actorOf(context), args),
};
