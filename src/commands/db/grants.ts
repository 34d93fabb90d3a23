import { CliError, usageError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import {
  type AccessSection,
  accessSections,
  compareAccess,
  describeLeftStatements,
  readTargetServer,
  renderAccessScript,
  type ServerAccess,
} from '../../db/cutover/index.ts';
import { readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import { runUntilSignal } from '../../platform/waiting.ts';

interface Row {
  readonly database: string;
  readonly section: string;
  readonly statement: string;
  readonly left: string;
}

const view: ListView<Row> = {
  columns: [
    { name: 'Database', value: (row) => row.database },
    { name: 'Section', value: (row) => row.section },
    { name: 'Statement', value: (row) => row.statement },
    { name: 'Left', value: (row) => row.left, extra: true },
  ],
};

export const dbGrants: CommandSpec<CommandContext> = {
  description:
    'A migration copies rows, but not who may read them. When it has ended, run this command, read its output, and pass it to psql on the target. It compares owners, privileges, default privileges, settings, comments and roles of both servers, which it only reads, and prints the SQL that the target lacks; nothing if nothing differs.\n\nA statement that the login of the target cannot run, or that gives rights on the whole server, is a comment with the reason. Passwords are neither read nor printed: the roles that need one are listed with `\\password`. Objects of a superuser keep their owner on the target if views or functions would run with its rights.',
  options: [
    ...sourceOptionSpecs,
    {
      name: 'target',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME',
    },
    {
      name: 'section',
      valueName: 'SECTION',
      multiple: 'list',
      choices: accessSections,
      description: 'Only this part: roles, owners, grants, defaults or settings (repeatable)',
    },
    {
      name: 'allow-superuser-owners',
      description: 'Let superusers of the target own the objects that superusers of the source own',
    },
  ],
  examples: [
    {
      text: 'Give the target the owners and privileges of the source',
      command:
        'cloudctl db grants --source postgres://mover@db.example.com/shop --target "$TARGET" | PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql -X -v ON_ERROR_STOP=1 "$TARGET"',
    },
  ],
  fields: ['database', 'section', 'statement', 'left'],
  run: async (context, args) => {
    const { output, host } = context;
    const source = await readSource(context, args);
    if (source.engine === 'redis')
      throw usageError('cannot compare privileges: the source is Redis', 'use a PostgreSQL source');
    const target = await readTargetServer(context, {
      typed: args.value('target'),
      engine: source.engine,
      allowCleartextPassword: args.has('allow-cleartext-password'),
    });
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
    const isShaped = context.globals.values('format').length > 0;
    const script = renderAccessScript(access);
    if (output.format !== 'table' || isShaped) await output.list(access.databases.flatMap(rowsOf), view);
    else if (script !== undefined) await output.report(script);
    for (const line of notesOf(access, wanted)) await output.warn(sanitizeReportLine(line));
    const failed = access.databases.filter(({ failure }) => failure !== undefined);
    if (failed.length === 0) return 0;
    throw new CliError(
      'source_unreachable',
      `could not compare the privileges of ${failed.map(({ database }) => database).join(', ')}`,
      {
        detail: failed.map(({ database, failure }) => sanitizeReportLine(`${database}: ${failure}`)).join('\n'),
        hint: 'skip a database with `--ignore-dbs`, or run the command again',
      },
    );
  },
};

function rowsOf({ database, statements }: ServerAccess['databases'][number]): readonly Row[] {
  return statements.map(({ section, sql, left = '' }) => ({ database, section, statement: sql, left }));
}

function notesOf(access: ServerAccess, sections: readonly string[]): readonly string[] {
  const { missing, unproven } = access.passwords;
  const roles: AccessSection = 'roles';
  const withRoles = sections.length === 0 || sections.includes(roles);
  return [
    ...describeLeftStatements(access),
    ...access.databases.flatMap(({ notes }) => notes),
    ...(withRoles && missing.length > 0
      ? [`${countOf(missing.length, 'role')} without a password; set it with ${passwordCommands(missing)}`]
      : []),
    ...(withRoles && unproven.length > 0
      ? [
          `not proven: whether ${countOf(unproven.length, 'role has', 'roles have')} the password of the source; log in as each, or set it with ${passwordCommands(unproven)}`,
        ]
      : []),
  ];
}

function passwordCommands(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  return `${names
    .slice(0, 10)
    .map((name) => `\\password "${name.replaceAll('"', '""')}"`)
    .join(', ')}${more}`;
}
