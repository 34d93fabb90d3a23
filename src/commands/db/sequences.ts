import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/suggest.ts';
import type { Context } from '../../context.ts';
import { readDbSource, sourceOptionSpecs } from '../../db-source/read-source.ts';
import { CliError, usageError } from '../../errors.ts';
import { untilSignal } from '../../platform/until-signal.ts';
import { type SequenceScript, sequenceScript } from '../../preflight/postgresql/sequence-script.ts';
import { sequencesQuery } from '../../preflight/postgresql/queries/sequences.ts';
import { queryEachDatabase } from '../../preflight/postgresql/query-each-database.ts';
import { psqlConnectCommand } from '../../preflight/render-fix-script.ts';

interface DatabaseSequences extends SequenceScript {
  readonly database: string;
  /** Why it could not be asked; the statements are missing then. */
  readonly failure?: string;
}

interface Row {
  readonly database: string;
  readonly statement: string;
}

const view: ListView<Row> = {
  columns: [
    { name: 'Database', value: (row) => row.database },
    { name: 'Statement', value: (row) => row.statement },
  ],
};

export const dbSequencesCommand: CommandSpec<Context> = {
  description:
    'Replication carries rows, not the values of sequences. At the cut-over, when the application has stopped writing, run this and give what it prints to psql on the target, before the application starts there. It is read-only on the source.',
  options: sourceOptionSpecs,
  examples: [
    {
      text: 'At the cut-over',
      command:
        'cloudctl db sequences --source postgres://mover@db.example.com/shop | psql -X -v ON_ERROR_STOP=1 "$TARGET"',
    },
  ],
  run: async (context, words) => {
    const { output, host } = context;
    const source = await readDbSource(context, words);
    if (source.engine === 'redis')
      throw usageError('Redis has no sequences', '`cloudctl db sequences` is for PostgreSQL sources');
    const options = {
      source: source.source,
      ignoreDbs: words.values('ignore-dbs'),
      clock: host.clock,
      nearest: nearestWord,
    };
    const told = await untilSignal(host.signals, 'the sequences were not read', (signal) =>
      queryEachDatabase({ ...options, signal }, sequencesQuery),
    );
    const scripts = told.map((each): DatabaseSequences => {
      const { database } = each;
      if ('failure' in each) return { database, statements: [], hidden: [], failure: each.failure };
      return { database, ...sequenceScript(each.value) };
    });
    const hidden = scripts.flatMap(({ database, hidden: names }) => names.map((name) => `${name} in ${database}`));
    if (hidden.length > 0) await output.warn(`this user may not read ${hidden.join(', ')}`);
    const failed = scripts.filter(({ failure }) => failure !== undefined);
    if (output.format === 'table' && context.globals.values('format').length === 0)
      await output.text(sequencesScript(scripts));
    else await output.list(scripts.flatMap(rowsOf), view);
    if (failed.length === 0) return 0;
    throw new CliError(
      'source_unreachable',
      `could not read the sequences of ${failed.map(({ database }) => database).join(', ')}`,
      {
        detail: failed.map(({ database, failure }) => `${database}: ${failure}`).join('\n'),
        hint: 'leave a database out with `--ignore-dbs`, or run the command again',
      },
    );
  },
};

function rowsOf({ database, statements }: DatabaseSequences): readonly Row[] {
  return statements.map((statement) => ({ database, statement }));
}

/** For psql, which goes from database to database by itself. */
function sequencesScript(scripts: readonly DatabaseSequences[]): string {
  const parts = scripts
    .filter(({ statements }) => statements.length > 0)
    .map(({ database, statements }) => [psqlConnectCommand(database), ...statements].join('\n'));
  return parts.length === 0 ? '-- no sequence has to be set' : parts.join('\n\n');
}
