import type { Actor } from '../../api/actor.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import { type DbSource, sourceUrlText, sourceWords, targetUrlText } from '../source/index.ts';
import { type FailureCommands, helpWithFailures } from '../watch/index.ts';
import { type ChecklistLine, type CutoverFacts, hasMigrationFailed, isUnread } from './checklist.ts';
import { listAcceptable } from './comparison.ts';
import { acceptWords } from './comparison-text.ts';
import type { DatabaseAccess } from './postgresql/access-script.ts';
import { targetPsqlCommand } from './target.ts';

/** Shell commands that can be pasted and contain no passwords. */
type NextCommands = FailureCommands &
  Readonly<
    Record<
      | 'remains'
      | 'watch'
      | 'sequences'
      | 'compare'
      | 'status'
      | 'follow'
      | 'again'
      | 'grants'
      | 'script'
      | 'psql'
      // Copies the rows of the unlogged tables that are not accepted.
      | 'copy'
      | 'accept'
      // Makes the login of the target a member of the owners; empty if it is one.
      | 'join'
      // Ends that membership.
      | 'leave'
      // Whose tables and views are left to a superuser, as the end of a hint; empty if none.
      | 'kept',
      string
    >
  >;

/** What to do when the target has used sequences. */
export function aheadHint({ sequences, again }: Pick<NextCommands, 'sequences' | 'again'>): string {
  return `if the application uses the target already, the cut-over is done: do not run it again; otherwise set the sequences back with \`${sequences}\`, then run \`${again}\``;
}

/** What to do about a line of the checklist that is not done, with the command for it. */
export function nextStep(
  { id, state }: ChecklistLine,
  commands: NextCommands,
  {
    targetHint,
    access,
    migration,
    contents,
    unlogged,
    writes,
    sequences,
  }: Pick<CutoverFacts, 'targetHint' | 'access' | 'migration' | 'contents' | 'unlogged' | 'writes' | 'sequences'>,
): string {
  const acceptable = typeof contents === 'object' ? listAcceptable(contents) : [];
  if (typeof migration !== 'string' && hasMigrationFailed({ migration }))
    return helpWithFailures(migration.failures ?? [], !migration.hasEnded, commands);
  const correct = `correct the problem in the column Observed, then run \`${commands.again}\``;
  if ((id === 'extensions' || id === 'definitions' || id === 'passwords') && isUnread(access)) return correct;
  switch (id) {
    case 'target':
      return `${targetHint}; then run \`${commands.again}\``;
    case 'extensions':
      return `run CREATE EXTENSION for each in \`${commands.psql}\`, then \`${commands.again}\``;
    case 'definitions':
      return `make the same change in \`${commands.psql}\`, then run \`${commands.again}\``;
    case 'passwords':
      return state === 'open'
        ? `set each password with \\password in \`${commands.psql}\`, then run \`${commands.again}\``
        : `log in to the target as each role, or set its password with \\password in \`${commands.psql}\`; then run \`${commands.accept} ${id}\``;
    case 'writes':
      return `stop the application${(writes?.sessions ?? []).length === 0 ? '' : ', whose sessions are listed'}, then run \`${commands.again}\``;
    case 'lag':
      return state === 'unknown' ? `run \`${commands.compare}\`` : `run \`${commands.watch}\``;
    case 'sequences':
      if (state === 'unknown') return correct;
      return typeof sequences === 'object' && sequences.ahead.length > 0
        ? aheadHint(commands)
        : `run \`${commands.sequences}\`, then \`${commands.again}\``;
    case 'contents':
      return acceptable.length > 0
        ? `check ${acceptable.length === 1 ? 'it' : 'them'} yourself, then run \`${commands.again}${acceptWords(acceptable)}\``
        : `run \`${commands.compare}\``;
    case 'large_objects':
      return `run \`${commands.compare}\``;
    case 'clean':
      return `see what is left, and remove it: run \`${commands.remains}\`, then \`${commands.again}\``;
    case 'stopped':
      if (state === 'unknown') return `run \`${commands.status}\``;
      return typeof migration !== 'string' && migration.isStopping
        ? `wait for the end with \`${commands.follow}\`, then run \`${commands.again}\``
        : `run \`${commands.stop}\``;
    case 'materialized_views':
      if (commands.join !== '')
        return `run \`${commands.join}\`, REFRESH MATERIALIZED VIEW for each in \`${commands.psql}\`, then \`${commands.leave}\` and \`${commands.again}\`${commands.kept}`;
      return `run REFRESH MATERIALIZED VIEW for each in \`${commands.psql}\`, then \`${commands.again}\`${commands.kept}`;
    case 'grants':
    case 'defaults':
    case 'settings':
      return isLeftToOthers(id, access)
        ? `let a superuser of the target run the comments of \`${commands.grants}\`, or run \`${commands.accept} ${id}\``
        : `run \`${commands.script}\`, then \`${commands.again}\``;
    case 'statistics':
      if (commands.join !== '')
        return `run \`${commands.join} -c ANALYZE\`, then \`${commands.leave}\` and \`${commands.again}\`${commands.kept}`;
      return `run ANALYZE in \`${commands.psql}\`, then \`${commands.again}\`${commands.kept}`;
    case 'unlogged':
      return `if the rows are needed, copy them when the application is stopped, before you switch it: \`${commands.copy}\`; now run \`${commands.again}${acceptWords(listOpen(unlogged))}\``;
    case 'lost_keys':
      return `load the keys into the source again, then run \`${commands.again}\`; or, if the application can do without them, run \`${commands.accept} ${id}\``;
    // It is always done.
    case 'left_out':
      return correct;
    default:
      return id satisfies never;
  }
}

function listOpen(unlogged: CutoverFacts['unlogged'] = []): readonly string[] {
  return unlogged.filter(({ isAccepted }) => !isAccepted).map(({ database, name }) => `${database}:${name}`);
}

function isOpen({ state, statements }: DatabaseAccess): boolean {
  return statements.length > 0 || Object.values(state ?? {}).some((found) => found.length > 0);
}

/** Whether the login of the target can run nothing of what the line lacks. */
function isLeftToOthers(id: 'grants' | 'defaults' | 'settings', access: CutoverFacts['access']): boolean {
  if (typeof access !== 'object') return false;
  const ofLine = (section: string): boolean =>
    id === 'grants' ? /^(roles|owners|grants)$/.test(section) : section === id;
  return access.databases
    .flatMap(({ statements }) => statements)
    .every(({ section, left }) => !ofLine(section) || left !== undefined);
}

interface Place {
  readonly cluster: string;
  readonly source: DbSource;
  readonly target: DbSource;
  /** What was read of both servers, as far as it is known. */
  readonly facts: Pick<CutoverFacts, 'access' | 'unlogged'>;
}

export function cutoverCommands(
  { host, globals }: CommandIo,
  actor: Pick<Actor, 'command'>,
  args: ParsedArgs,
  { cluster, source, target, facts: { access, unlogged = [] } }: Place,
): NextCommands {
  const from = sourceWords(source, { ignoreDbs: args.values('ignore-dbs'), caFile: args.value('ca-file') });
  const slots = quotedOptions(args, ['slot']);
  const to = ['--target', quoteShellArg(targetUrlText(target))];
  // psql enters the first database in which something is left.
  const { database: dbname, state: open } =
    (typeof access === 'object' ? access.databases.find(isOpen) : undefined) ?? {};
  const inside: DbSource =
    target.engine === 'postgresql' && dbname !== undefined
      ? { engine: 'postgresql', source: { ...target.source, dbname } }
      : target;
  const psql = targetPsqlCommand(target, host.env);
  const psqlInside = targetPsqlCommand(inside, host.env);
  const owners = open?.foreignOwners ?? [];
  // Redis has no owners, and no name to quote.
  const login = target.engine === 'postgresql' ? quoteIdentifier(target.source.username) : '';
  const roles = owners.map(quoteIdentifier).join(', ');
  const kept = (open?.keptOwners ?? []).map(quoteIdentifier).join(', ');
  const member = (statement: string): string =>
    owners.length === 0 ? '' : `${psqlInside} -c ${quoteShellArg(statement)}`;
  const again = actor.command(
    ...['db cutover', cluster, ...from, ...slots, ...to],
    // With these words a followed cut-over is continued.
    ...['follow', 'apply'].flatMap((name) => (args.has(name) ? [`--${name}`] : [])),
    ...quotedOptions(args, ['compare', 'wait-timeout', 'report']),
    ...(args.has('apply') && globals.has('yes') ? ['--yes'] : []),
    ...quotedOptions(args, ['accept']),
  );
  const grants = actor.command('db grants', ...from, ...to);
  return {
    watch: actor.command('db watch', ...from, ...slots, '--until-idle'),
    sequences: `${actor.command('db sequences', ...from)} | ${psql}`,
    copy: copyCommands(unlogged, { source, target, env: host.env }).join('; '),
    grants,
    script: `${grants} | ${psql}`,
    psql: psqlInside,
    join: member(`GRANT ${roles} TO ${login}`),
    leave: member(`REVOKE ${roles} FROM ${login}`),
    kept:
      kept === ''
        ? ''
        : `; a superuser does it for what ${sanitizeReportLine(kept, 300)} ${open?.keptOwners.length === 1 ? 'owns' : 'own'}`,
    accept: `${again} --accept`,
    compare: actor.command('db compare', ...from, ...to),
    status: actor.command('db status', cluster),
    follow: actor.command('db status', cluster, '--watch'),
    preflight: actor.command('db preflight', ...from),
    migrate: actor.command('db migrate', cluster, ...from),
    stop: actor.command('db stop', cluster),
    remains: actor.command('db stop', cluster, ...from),
    again,
  };
}

/** One command for each database, with the password of the source in PGPASSWORD. */
function copyCommands(
  unlogged: NonNullable<CutoverFacts['unlogged']>,
  { source, target, env }: Pick<Place, 'source' | 'target'> & { readonly env: CommandIo['host']['env'] },
): readonly string[] {
  if (source.engine !== 'postgresql' || target.engine !== 'postgresql') return [];
  const open = unlogged.filter(({ isAccepted }) => !isAccepted);
  return [...new Set(open.map(({ database }) => database))].map((dbname) => {
    const tables = open
      .filter(({ database }) => database === dbname)
      .map(({ quoted }) => `-t ${quoteShellArg(quoted)}`);
    const from = quoteShellArg(sourceUrlText({ engine: 'postgresql', source: { ...source.source, dbname } }));
    const to = targetPsqlCommand({ engine: 'postgresql', source: { ...target.source, dbname } }, env);
    return `pg_dump --data-only ${tables.join(' ')} ${from} | ${to}`;
  });
}

/** The options as they were typed, for a command that is pasted. */
function quotedOptions(args: ParsedArgs, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => args.values(name).flatMap((value) => [`--${name}`, quoteShellArg(value)]));
}
