import { usageError } from '../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { parseDurationToMillisecondsOrThrow } from '../cli/duration.ts';
import { requireWholeNumber } from '../cli/whole-number.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import type { SourceCheckConcurrencyLimits } from './run-for-each-source-within-limits.ts';

const section = 'Options for many sources';

/** The options of `db preflight` for many sources. */
export const sourceInventoryOptionSpecs: readonly OptionSpec[] = [
  {
    section,
    name: 'sources',
    valueName: 'FILE',
    description: 'Check many sources: a URL or a service name on each line, or CSV with a header; - for standard input',
    completion: 'file',
  },
  { section, name: 'parallel', valueName: 'N', description: 'Sources that are checked at the same time (default: 16)' },
  {
    section,
    name: 'parallel-per-server',
    valueName: 'N',
    description: 'Sources that are checked at the same time on one server, and connections to it (default: 2)',
  },
  {
    section,
    name: 'scope',
    valueName: 'SCOPE',
    description:
      'Databases to check: server for all databases of the server, database for the one that the source names (default: server)',
    choices: ['server', 'database'],
  },
  {
    section,
    name: 'password-command',
    valueName: 'JSON',
    description: 'Program that prints the password of a source, as a JSON array; it is run without a shell',
  },
  {
    section,
    name: 'report-dir',
    valueName: 'FOLDER',
    description: 'Write the JSON report of each source into FOLDER',
    completion: 'folder',
  },
  {
    section,
    name: 'queue',
    valueName: 'NAME',
    description: 'Share the sources with other machines, through the PostgreSQL server of CLOUDCTL_QUEUE_URL',
  },
  {
    section,
    name: 'lease',
    valueName: 'DURATION',
    description: 'With --queue: time after which another machine checks the source of a stopped machine (default: 60s)',
  },
];

export interface SourceInventorySettings extends SourceCheckConcurrencyLimits {
  /**
   * The path of the inventory, or `-` for standard input; undefined if this machine only takes sources from a queue that
   * another machine has filled.
   */
  readonly sources: string | undefined;
  readonly queue: string | undefined;
  /** Milliseconds. */
  readonly lease: number;
  readonly deadline: number;
  readonly reportDir: string | undefined;
  readonly baseline: string | undefined;
  readonly reports: readonly string[];
}

/** What the command `db preflight` passes to the function that checks an inventory. */
export interface RunSourceInventoryInput {
  readonly io: CommandIo;
  readonly args: ParsedArgs;
  readonly settings: ResolvedProfileSettings;
  readonly inventory: SourceInventorySettings;
}

/** Formats of the report of an inventory, by file extension. */
export const sourceInventoryReportFileExtensions: readonly string[] = ['.json', '.md', '.html'];

/**
 * Options that are refused with an inventory: those that the inventory itself gives for each source, and those that work
 * with one source only.
 */
const refusedOptions = [
  'source',
  'engine',
  'host',
  'port',
  'dbname',
  'username',
  'password-stdin',
  'ignore-dbs',
  'deep',
  'deep-rate',
  'deep-timeout',
  'fix-sql',
  'undo-sql',
  'sarif-uri',
];

/**
 * The options of an inventory; undefined if the command line names one source. Throws a CliError (usage) for options that do not
 * belong together.
 */
export function readSourceInventorySettings(args: ParsedArgs): SourceInventorySettings | undefined {
  const [sources, queue] = [args.value('sources'), args.value('queue')];
  if (sources === undefined && queue === undefined) {
    const unused = sourceInventoryOptionSpecs.find(({ name }) => args.has(name));
    if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --sources`, 'add `--sources FILE`');
    return undefined;
  }
  const way = sources === undefined ? '--queue' : '--sources';
  const refused = refusedOptions.find((name) => args.has(name));
  if (refused !== undefined)
    throw usageError(`cannot use --${refused} with ${way}`, `remove \`--${refused}\``, inventoryNote);
  if (queue === undefined && args.has('lease')) throw usageError('cannot use --lease without --queue', 'add `--queue`');
  if (queue !== undefined) requireQueueOptions(args, queue);
  const reports = args.values('report');
  const odd = reports.find(
    (file) => !sourceInventoryReportFileExtensions.some((end) => file.toLowerCase().endsWith(end)),
  );
  if (odd !== undefined)
    throw usageError(
      `the report of an inventory cannot have the format of ${odd}`,
      `use a file name that ends in one of ${sourceInventoryReportFileExtensions.join(' ')}`,
    );
  const parallel = requireWholeNumber(args.value('parallel') ?? '16', '--parallel', { min: 1, max: 1000 });
  return {
    sources,
    queue,
    lease: parseDurationToMillisecondsOrThrow(args.value('lease') ?? '60s', '--lease', 1000),
    deadline: parseDurationToMillisecondsOrThrow(args.value('deadline') ?? '60s', '--deadline', 1000),
    parallel,
    perServer: requireWholeNumber(args.value('parallel-per-server') ?? '2', '--parallel-per-server', {
      min: 1,
      max: 100,
    }),
    reportDir: args.value('report-dir'),
    baseline: args.value('baseline'),
    reports,
  };
}

const inventoryNote =
  'an inventory names each source on a line of its own; CSV has columns for the options of a source';

function requireQueueOptions(args: ParsedArgs, queue: string): void {
  if (args.has('probe'))
    throw usageError(
      'cannot use --probe with --queue',
      'remove `--probe`',
      'a source of a stopped machine is checked again, and a probe would then run twice',
    );
  if (args.has('baseline'))
    throw usageError(
      'cannot use --baseline with --queue',
      'remove `--baseline`',
      'each machine has a part of the sources',
    );
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(queue))
    throw usageError('the name of the queue is not valid', 'use letters, digits, dots, underscores and hyphens');
  const sources = args.value('sources');
  const fixed = sources === undefined ? inventoryCheckOptionNames.find((name) => args.has(name)) : undefined;
  if (fixed !== undefined)
    throw usageError(
      `cannot use --${fixed} without --sources`,
      `give \`--${fixed}\` to the command that fills the queue`,
      'all machines check with the options that the queue was filled with',
    );
}

/** Options that decide what is checked. All machines of a queue must use the same values for them. */
export const inventoryCheckOptionNames: readonly string[] = [
  'target-version',
  'target-extensions',
  'target-memory',
  'source-disk-free',
  'method',
  'accept',
  'strict',
  'allow-private',
  'judge-as-public',
  'disable-ssl',
  'allow-cleartext-password',
  'ca-file',
  'scope',
];
