import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { nearestWord } from '../../cli/values.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { formatPsqlConnect, psqlSetup } from '../../postgresql/psql-script.ts';
import { requoteName } from '../../postgresql/quote.ts';
import { sequenceStateQuery } from '../../postgresql/sequence-state.ts';
import { limitObjects, queryEachDatabase, unlistedNote } from '../preflight/queries.ts';
import { readSource } from '../source/index.ts';
import {
  compareAccess,
  type DatabaseAccess,
  describeLeftStatements,
  renderAccessScript,
  type ServerAccess,
} from './postgresql/access-script.ts';
import { accessSections } from './postgresql/access-statements.ts';
import { type SequenceScript, sequenceScript, sequencesQuery } from './postgresql/sequences.ts';
import { readTargetServer } from './target.ts';

interface SequencesOf extends SequenceScript {
  readonly database: string;
  /** Why the database could not be queried; it then has no statements. */
  readonly failure?: string;
}

const sequencesView: ListView<{ readonly database: string; readonly statement: string }> = {
  columns: [
    { name: 'Database', value: (row) => row.database },
    { name: 'Statement', value: (row) => row.statement },
  ],
};

/** Prints the psql script that sets the sequences of the target to the values of the source, which is only read. */
export async function printSequences(io: CommandIo, args: ParsedArgs): Promise<ExitCode> {
  const { output, host, globals } = io;
  const { engine, source } = await readSource(io, args);
  if (engine === 'redis') throw usageError('cannot read sequences: the source is Redis', 'use a PostgreSQL source');
  const options = { source, ignoreDbs: args.values('ignore-dbs'), clock: host.clock, nearest: nearestWord };
  const results = await runUntilSignal(host.signals, 'reading the sequences was interrupted', (signal) =>
    queryEachDatabase({ ...options, signal }, sequencesQuery),
  );
  const databases = results.map((each): SequencesOf => {
    const { database } = each;
    const nothing = { database, statements: [], hidden: [], unused: [] };
    if ('failure' in each) return { ...nothing, failure: each.failure };
    if (formatPsqlConnect(database) === undefined) return { ...nothing, failure: 'the server sent an empty name' };
    return { database, ...sequenceScript(each.value) };
  });
  const hidden = databases.flatMap(({ database, hidden: names }) => names.map((name) => `${name} in ${database}`));
  if (hidden.length > 0) await output.warn(`the user has no SELECT privilege on ${hidden.join(', ')}`);
  const unused = databases.flatMap(({ database, unused: names }) => names.map((name) => ({ name, database })));
  if (unused.length > 0) await output.warn(unusedWarning(unused));
  if (output.format === 'table' && globals.values('format').length === 0)
    await output.report(renderSequences(databases));
  else
    await output.list(
      databases.flatMap(({ database, statements }) => statements.map((statement) => ({ database, statement }))),
      sequencesView,
    );
  return requireRead('could not read the sequences', databases);
}

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

/** A psql script that switches between databases with `\\connect`. */
function renderSequences(databases: readonly SequencesOf[]): string {
  const parts = databases
    .filter(({ statements }) => statements.length > 0)
    .map(({ database, statements }) => [formatPsqlConnect(database), ...psqlSetup, ...statements].join('\n'));
  return parts.length === 0 ? '-- no sequences to set' : ['\\set ON_ERROR_STOP on', ...parts].join('\n\n');
}

interface GrantRow {
  readonly database: string;
  readonly section: string;
  readonly statement: string;
  readonly left: string;
}

const grantsView: ListView<GrantRow> = {
  columns: [
    { name: 'Database', value: (row) => row.database },
    { name: 'Section', value: (row) => row.section },
    { name: 'Statement', value: (row) => row.statement },
    { name: 'Left', value: (row) => row.left, extra: true },
  ],
};

/** Prints the psql script for the roles, owners and privileges that the target lacks; both servers are only read. */
export async function printGrants(io: CommandIo, args: ParsedArgs): Promise<ExitCode> {
  const { output, host, globals } = io;
  const source = await readSource(io, args);
  if (source.engine === 'redis')
    throw usageError('cannot compare privileges: the source is Redis', 'use a PostgreSQL source');
  const target = await readTargetServer(io, args, source.engine);
  if (target.engine === 'redis') throw usageError('the target is Redis', 'use a PostgreSQL target');
  const wanted = args.values('section');
  const access = await runUntilSignal(host.signals, 'reading the privileges was interrupted', (signal) =>
    compareAccess(source.source, target.source, {
      ignoreDbs: args.values('ignore-dbs'),
      sections: wanted.length === 0 ? accessSections : accessSections.filter((one) => wanted.includes(one)),
      allowSuperuserOwners: args.has('allow-superuser-owners'),
      signal,
    }),
  );
  const isShaped = output.format !== 'table' || globals.values('format').length > 0;
  const script = renderAccessScript(access);
  if (isShaped) await output.list(access.databases.flatMap(rowsOf), grantsView);
  else if (script !== undefined) await output.report(script);
  const isAboutRoles = wanted.length === 0 || wanted.includes('roles');
  for (const line of grantNotes(access, isAboutRoles)) await output.warn(sanitizeReportLine(line));
  return requireRead('could not compare the privileges', access.databases);
}

function rowsOf({ database, statements }: DatabaseAccess): readonly GrantRow[] {
  return statements.map(({ section, sql, left = '' }) => ({ database, section, statement: sql, left }));
}

function grantNotes(access: ServerAccess, isAboutRoles: boolean): readonly string[] {
  const { missing, unproven } = access.passwords;
  return [
    ...describeLeftStatements(access),
    ...access.databases.flatMap(({ notes }) => notes),
    ...(isAboutRoles && missing.length > 0
      ? [`${countOf(missing.length, 'role')} without a password; set it with ${passwordCommands(missing)}`]
      : []),
    ...(isAboutRoles && unproven.length > 0
      ? [
          `not proven: whether ${countOf(unproven.length, 'role has', 'roles have')} the password of the source; log in as each, or set it with ${passwordCommands(unproven)}`,
        ]
      : []),
  ];
}

function passwordCommands(names: readonly string[]): string {
  const commands = names.slice(0, 10).map((name) => `\\password "${name.replaceAll('"', '""')}"`);
  return `${commands.join(', ')}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`;
}

/** Throws `source_unreachable` if a database could not be read; what was read of the others is printed before. */
function requireRead(
  what: string,
  databases: readonly { readonly database: string; readonly failure?: string }[],
): ExitCode {
  const failed = databases.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return 0;
  throw new CliError('source_unreachable', `${what} of ${failed.map(({ database }) => database).join(', ')}`, {
    detail: failed.map(({ database, failure }) => sanitizeReportLine(`${database}: ${failure}`)).join('\n'),
    hint: 'skip a database with `--ignore-dbs`, or run the command again',
  });
}
