import { CliError, usageError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import type { CommandContext } from '../../context.ts';
import { limitObjects, unlistedNote } from '../../db/preflight/postgresql/check.ts';
import { queryEachDatabase } from '../../db/preflight/postgresql/each-database.ts';
import {
  type SequenceScript,
  sequenceScript,
  sequencesQuery,
} from '../../db/preflight/postgresql/queries/sequences.ts';
import { readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { formatPsqlConnect, psqlSetup } from '../../postgresql/psql-script.ts';
import { requoteName } from '../../postgresql/quote.ts';
import { sequenceStateQuery } from '../../postgresql/sequence-state.ts';

interface DatabaseSequences extends SequenceScript {
  readonly database: string;
  /** The reason why the database could not be queried; the script then has no statements for this database. */
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

export const dbSequences: CommandSpec<CommandContext> = {
  description:
    'Logical replication copies rows, but not the values of sequences. At the cut-over, after the application has stopped writing, run this command and pass its output to psql on the target, before the application starts there. The command only reads from the source.\n\nThe password of the source comes from PGPASSWORD or .pgpass. psql takes the password of the target from the same variable, so give it its own: `PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql …`.',
  options: sourceOptionSpecs,
  examples: [
    {
      text: 'Set the sequences of the target at the cut-over',
      command:
        'cloudctl db sequences --source postgres://mover@db.example.com/shop | PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql -X -v ON_ERROR_STOP=1 "$TARGET"',
    },
  ],
  fields: ['database', 'statement'],
  run: async (context, args) => {
    const { output, host } = context;
    const source = await readSource(context, args);
    if (source.engine === 'redis')
      throw usageError('cannot read sequences: the source is Redis', 'use a PostgreSQL source');
    const options = {
      source: source.source,
      ignoreDbs: args.values('ignore-dbs'),
      clock: host.clock,
      nearest: nearestWord,
    };
    const results = await runUntilSignal(host.signals, 'reading the sequences was interrupted', (signal) =>
      queryEachDatabase({ ...options, signal }, sequencesQuery),
    );
    const scripts = results.map((each): DatabaseSequences => {
      const { database } = each;
      if ('failure' in each) return { database, statements: [], hidden: [], unused: [], failure: each.failure };
      if (formatPsqlConnect(database) === undefined)
        return { database, statements: [], hidden: [], unused: [], failure: 'the server sent an empty name' };
      return { database, ...sequenceScript(each.value) };
    });
    const hidden = scripts.flatMap(({ database, hidden: names }) => names.map((name) => `${name} in ${database}`));
    if (hidden.length > 0) await output.warn(`the user has no SELECT privilege on ${hidden.join(', ')}`);
    const unused = scripts.flatMap(({ database, unused: names }) => names.map((name) => ({ name, database })));
    if (unused.length > 0) await output.warn(unusedWarning(unused));
    const failed = scripts.filter(({ failure }) => failure !== undefined);
    if (output.format === 'table' && context.globals.values('format').length === 0)
      await output.report(sequencesScript(scripts));
    else await output.list(scripts.flatMap(rowsOf), view);
    if (failed.length === 0) return 0;
    throw new CliError(
      'source_unreachable',
      `could not read the sequences of ${failed.map(({ database }) => database).join(', ')}`,
      {
        detail: failed.map(({ database, failure }) => sanitizeReportLine(`${database}: ${failure}`)).join('\n'),
        hint: 'skip a database with `--ignore-dbs`, or run the command again',
      },
    );
  },
};

/**
 * Before PostgreSQL 18, only a SELECT from the sequence itself returns the value of an unused sequence; cloudctl does not send
 * this SELECT, because it could run code of other users.
 */
function unusedWarning(unused: readonly { readonly name: string; readonly database: string }[]): string {
  const listed = limitObjects(unused).map(
    ({ name, database }) => `${sequenceStateQuery(requoteName(name))} in ${database}`,
  );
  return `${countOf(unused.length, 'sequence')} not used yet: on the target they begin with their start values. If setval or RESTART changed such a value, set it manually; the owner of the sequence can read it with: ${listed.join('; ')}.${unlistedNote(unused)}`;
}

function rowsOf({ database, statements }: DatabaseSequences): readonly Row[] {
  return statements.map((statement) => ({ database, statement }));
}

/** Formats a psql script that switches between databases with `\\connect`. */
function sequencesScript(scripts: readonly DatabaseSequences[]): string {
  const parts = scripts
    .filter(({ statements }) => statements.length > 0)
    .map(({ database, statements }) => [formatPsqlConnect(database), ...psqlSetup, ...statements].join('\n'));
  return parts.length === 0 ? '-- no sequences to set' : ['\\set ON_ERROR_STOP on', ...parts].join('\n\n');
}
