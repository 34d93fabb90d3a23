import type { CommandSpec, OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { requireDuration } from '../../cli/duration.ts';
import type { Context } from '../../context.ts';
import { type DbSource, readDbSource, sourceOptionSpecs } from '../../db-source/read-source.ts';
import { type WatchMigrationOptions, watchMigration } from '../../watch/follow-migration.ts';

/** What `db watch` and `db migrate --watch` have in common. */
export const watchOptionSpecs: readonly OptionSpec[] = [
  { name: 'interval', valueName: 'DURATION', description: 'between two looks (2s)' },
  { name: 'until-idle', description: 'end with exit 0 once nothing is left to replicate' },
  {
    name: 'slot',
    valueName: 'SLOT',
    multiple: 'repeat',
    description: "the migration's replication slot, or ADDRESS:PORT of its replica, where that cannot be told",
  },
];

export const dbWatchCommand: CommandSpec<Context> = {
  description:
    'Shows how far the online migration of an external database is, how long it will take, when the service stops it, and every rule that is broken while it runs, with what to do. It only reads from the source, inside read-only transactions, and knows nothing of the target: what is there it infers from the replication slots, their consumers, the copies that run and the scans that tables had. In a terminal it draws a picture, elsewhere it prints a line when something changes; with `-o ndjson` one object a look, in other formats the last look when it ends. Ctrl-C ends the watch, not the migration.\n\nThe slots of the migration are those named with --slot; else those seen earlier or with names that engines of migrations give; else those that appeared after `db migrate` started it; else all that speak pgoutput.',
  options: [
    ...sourceOptionSpecs,
    ...watchOptionSpecs,
    { name: 'show-queries', description: 'print on stderr all that is sent to the source' },
  ],
  examples: [
    { text: 'Look on', command: 'PGPASSWORD=… cloudctl db watch --source postgres://mover@db.example.com/shop' },
    {
      text: 'Wait in a script until the cut-over can begin',
      command: 'cloudctl db watch --source postgres://mover@db.example.com/shop --until-idle && ./cut-over.sh',
    },
    {
      text: 'Only what is broken',
      command: "cloudctl db watch --source postgres://mover@db.example.com/shop -o ndjson | jq -c '.violations[]'",
    },
  ],
  run: async (context, words) =>
    watchMigration(context, readWatchArgs(words, await readDbSource(context, words), words.has('show-queries'))),
};

export function readWatchArgs(words: ParsedArgs, source: DbSource, showQueries: boolean): WatchMigrationOptions {
  return {
    source,
    interval: requireDuration(words.value('interval') ?? '2s', '--interval', 1000),
    untilIdle: words.has('until-idle'),
    ignoreDbs: words.values('ignore-dbs'),
    slots: words.values('slot'),
    showQueries,
    caFile: words.value('ca-file'),
  };
}
