import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { requireDuration, requireInteger } from '../../cli/values.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import { preflightOptionSpecs } from '../preflight/index.ts';
import { sourceOptionSpecs } from '../source/index.ts';
import type { Limits } from './limits.ts';

/** Options of one source that an inventory takes for all of them; the others come from the lines of the file. */
const commonSourceOptions = ['disable-ssl', 'allow-cleartext-password', 'ca-file'];

/** File extensions of the reports of an inventory. */
const reportExtensions: readonly string[] = ['.json', '.md', '.html'];

/** The options of `db inventory`. */
export const inventoryOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'scope',
    valueName: 'SCOPE',
    description:
      'Databases to check: server for all databases of the server, database for the one that the source names (default: server)',
    choices: ['server', 'database'],
  },
  { name: 'parallel', valueName: 'N', description: 'Sources that are checked at the same time (default: 16)' },
  {
    name: 'parallel-per-server',
    valueName: 'N',
    description: 'Sources that are checked at the same time on one server, and connections to it (default: 2)',
  },
  {
    name: 'password-command',
    valueName: 'JSON',
    description: 'Program that prints the password of a source, as a JSON array; it is run without a shell',
  },
  ...sourceOptionSpecs
    .filter(({ name }) => commonSourceOptions.includes(name))
    .map((option) => ({ ...option, section: 'Options for every source' })),
  ...preflightOptionSpecs.map((option) => ({ ...option, section: 'Options for every source' })),
  {
    section: 'Report options',
    name: 'report',
    valueName: 'FILE',
    multiple: 'repeat',
    description: `Write the report; the file name selects the format: ${reportExtensions.join(' ')}`,
    completion: 'file',
  },
  {
    section: 'Report options',
    name: 'report-dir',
    valueName: 'FOLDER',
    description: 'Write the JSON report of each source into FOLDER',
    completion: 'folder',
  },
  {
    section: 'Report options',
    name: 'baseline',
    valueName: 'FOLDER',
    description: 'Write the report of each source into FOLDER, or compare with it if it is there',
    completion: 'folder',
  },
];

export interface InventoryOptions extends Limits {
  /** The path of the list of sources, or `-` for standard input. */
  readonly file: string;
  /** Time limit of the preflight of one source, in milliseconds. */
  readonly deadline: number;
  readonly reportDir: string | undefined;
  readonly baseline: string | undefined;
  readonly reports: readonly string[];
}

/** What the command `db inventory` passes to the function that checks the sources. */
export interface InventoryRun {
  readonly io: CommandIo;
  readonly args: ParsedArgs;
  readonly settings: ProfileSettings;
  readonly inventory: InventoryOptions;
}

/** Reads the argument and the options that concern the whole inventory. Throws a CliError (usage). */
export function readInventoryOptions(args: ParsedArgs): InventoryOptions {
  const [file = ''] = args.positionals;
  const reports = args.values('report');
  const odd = reports.find((path) => !reportExtensions.some((end) => path.toLowerCase().endsWith(end)));
  if (odd !== undefined)
    throw usageError(
      `the report of an inventory cannot have the format of ${odd}`,
      `use a file name that ends in one of ${reportExtensions.join(' ')}`,
    );
  return {
    file,
    deadline: requireDuration(args.value('deadline') ?? '60s', '--deadline', 1000),
    parallel: requireInteger(args.value('parallel') ?? '16', '--parallel', { min: 1, max: 1000 }),
    perServer: requireInteger(args.value('parallel-per-server') ?? '2', '--parallel-per-server', {
      min: 1,
      max: 100,
    }),
    reportDir: args.value('report-dir'),
    baseline: args.value('baseline'),
    reports,
  };
}
