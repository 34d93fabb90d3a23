import type { CommandSpec, OptionSpec, Words } from '../../cli/command.ts';
import { duration } from '../../cli/duration.ts';
import type { Context } from '../../context.ts';
import { type Source, sourceOf, sourceOptions } from './source.ts';
import { type Watching, watchMigration } from './watching.ts';

/** What `db watch` and `db migrate --watch` have in common. */
export const watchOptions: readonly OptionSpec[] = [
  { name: 'interval', value: 'DURATION', description: 'between two looks (2s)' },
  { name: 'until-idle', description: 'end with exit 0 once nothing is left to replicate' },
  {
    name: 'slot',
    value: 'SLOT',
    many: 'repeat',
    description: "the migration's replication slot, or ADDRESS:PORT of its replica, where that cannot be told",
  },
];

export const watch: CommandSpec<Context> = {
  summary: 'follow a migration from its source, and see what would break it',
  description:
    'Shows how far the online migration of an external database is, how long it will take, when the service stops it, and every rule that is broken while it runs, with what to do. It only reads from the source, inside read-only transactions, and knows nothing of the target: what is there it infers from the replication slots, their consumers, the copies that run and the scans that tables had. In a terminal it draws a picture, elsewhere it prints a line when something changes; with `-o ndjson` one object a look, in other formats the last look when it ends. Ctrl-C ends the watch, not the migration.\n\nThe slots of the migration are those named with --slot; else those seen earlier or with names that engines of migrations give; else those that appeared after `db migrate` started it; else all that speak pgoutput.',
  options: [
    ...sourceOptions,
    ...watchOptions,
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
    watchMigration(context, watchingOf(words, await sourceOf(context, words), words.flag('show-queries'))),
};

export function watchingOf(words: Words, source: Source, showQueries: boolean): Watching {
  return {
    source,
    interval: duration(words.text('interval') ?? '2s', '--interval', 1000),
    untilIdle: words.flag('until-idle'),
    ignoreDbs: words.list('ignore-dbs'),
    slots: words.list('slot'),
    showQueries,
    caFile: words.text('ca-file'),
  };
}
