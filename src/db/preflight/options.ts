import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { requireDuration, requireInteger, shortenInput } from '../../cli/values.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { parseMajorVersion } from '../../postgresql/version.ts';
import { parseTargetVersion } from '../../redis/version.ts';
import type { MigrationMethod } from './finding.ts';
import type { NamedTarget } from './postgresql/target.ts';

/** The command-line options that control a preflight. */
export const preflightOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'target-version',
    valueName: 'VERSION',
    description: 'Version of the target, for example 17, redis-7.2 or valkey-8',
    completion: ['18', '17', '16', '15', '14', 'valkey-8', 'redis-7.2'],
  },
  {
    name: 'target-extensions',
    valueName: 'a,b=1.6',
    multiple: 'list',
    description: 'Extensions, or Redis modules, that the target provides, with their versions',
  },
  {
    name: 'method',
    valueName: 'METHOD',
    description:
      'Migration method that must be possible: continuous, dump (PostgreSQL) or scan (Redis) (default: continuous)',
    choices: ['continuous', 'dump', 'scan'],
  },
  {
    name: 'accept',
    valueName: 'ID,..',
    multiple: 'list',
    description: 'Findings to accept, by id; the report records them',
    completion: { from: 'check' },
  },
  { name: 'strict', description: 'Treat warnings and unproven premises of the verdict as blockers' },
  {
    name: 'probe',
    description: 'Allow checks that write to the source or make it fork; the report lists what they did',
  },
  {
    name: 'source-disk-free',
    valueName: 'BYTES',
    description: 'Free disk space of the source in bytes, which SQL cannot read',
  },
  { name: 'target-memory', valueName: 'BYTES', description: 'Memory of the target in bytes (Redis)' },
  { name: 'allow-private', description: 'Accept a private or loopback address of the source' },
  {
    name: 'judge-as-public',
    description: 'Require a public address of the source, even if base_url is a loopback address',
  },
  {
    name: 'deadline',
    valueName: 'DURATION',
    description: 'Time limit of the preflight, without reading rows (default: 60s)',
  },
  { name: 'show-queries', description: 'Print every statement that is sent to the source on stderr' },
];

/**
 * Parses the command-line options of a preflight. With a base_url on a loopback address, private addresses of the
 * source are accepted, because the service then runs on this machine.
 * @param now milliseconds since the epoch
 */
export function readPreflightOptions(
  args: ParsedArgs,
  engine: 'postgresql' | 'redis',
  settings: ProfileSettings,
  now: number,
): PreflightOptions {
  const method = readMethod(args.value('method'), engine);
  const targetVersion = args.value('target-version');
  if (targetVersion !== undefined && !isTargetVersion(targetVersion, engine)) {
    throw usageError(
      `--target-version is not a version: ${shortenInput(targetVersion)}`,
      engine === 'redis' ? 'write the version as in `redis-7.2` or `valkey-8`' : 'write the version as in `17`',
    );
  }
  const diskFree = args.value('source-disk-free');
  const memory = args.value('target-memory');
  const extensions = args.values('target-extensions');
  const base = settings.values.base_url;
  const isLocal = base !== undefined && isLoopbackHost(new URL(base).hostname);
  return {
    method,
    targetVersion,
    targetExtensions: extensions.length === 0 ? undefined : extensions.map(readTargetExtension),
    target: undefined,
    ignoreDbs: args.values('ignore-dbs'),
    disableSsl: args.has('disable-ssl'),
    isOverInternet: args.has('judge-as-public') || !(isLocal || args.has('allow-private')),
    sourceDiskFree: diskFree === undefined ? undefined : requireInteger(diskFree, '--source-disk-free'),
    ...(memory === undefined ? {} : { targetMemory: requireInteger(memory, '--target-memory', { min: 1 }) }),
    accept: args.values('accept'),
    strict: args.has('strict'),
    probe: args.has('probe'),
    now,
  };
}

/** The entry `name` or `name=version`, with the name in lower case. */
function readTargetExtension(entry: string): string {
  const [, name = '', version = ''] = /^([^=]+)(=[^=]+)?$/.exec(entry.replace(/\s*=\s*/, '=')) ?? [];
  if (name !== '') return `${name.toLowerCase()}${version}`;
  throw usageError(
    `--target-extensions has an entry without a name or a version: ${shortenInput(entry)}`,
    'write the extensions as in `--target-extensions hstore,pg_cron=1.6`',
  );
}

function readMethod(typed: string | undefined, engine: 'postgresql' | 'redis'): MigrationMethod {
  if (typed === 'dump' && engine === 'redis')
    throw usageError('cannot use --method dump with Redis', 'use `--method scan`');
  if (typed === 'scan' && engine === 'postgresql')
    throw usageError('cannot use --method scan with PostgreSQL', 'use `--method dump`');
  return typed === 'dump' || typed === 'scan' ? typed : 'continuous';
}

/** Whether the text can be a value of `--target-version`. */
export function isTargetVersion(text: string, engine: 'postgresql' | 'redis'): boolean {
  return engine === 'redis' ? /^([a-z]+-)?\d{1,3}(\.\d{1,3}){0,2}$/i.test(text) : parseMajorVersion(text) !== undefined;
}

/** Whether two versions of a target cannot both be true; a version that is not known contradicts nothing. */
function contradictsTarget(
  engine: 'postgresql' | 'redis',
  one: string | undefined,
  other: string | undefined,
): boolean {
  if (one === undefined || other === undefined) return false;
  if (engine === 'postgresql') {
    const [first, second] = [parseMajorVersion(one), parseMajorVersion(other)];
    return first !== undefined && second !== undefined && first !== second;
  }
  const [first, second] = [parseTargetVersion(one), parseTargetVersion(other)];
  if (first === undefined || second === undefined) return false;
  const differs = (left: unknown, right: unknown) => left !== undefined && right !== undefined && left !== right;
  return differs(first.product, second.product) || first.major !== second.major || differs(first.minor, second.minor);
}

/**
 * Throws a usage error if `--target-version` is not the version of the target.
 * @param what the target, as a noun
 * @param given what named the other version, and what the user does about it
 */
export function requireTargetVersion(
  engine: 'postgresql' | 'redis',
  typed: string | undefined,
  actual: string | undefined,
  what: string,
  given: { readonly by: string; readonly hint: string } = typedVersion,
): void {
  if (!contradictsTarget(engine, typed, actual)) return;
  throw usageError(
    `${given.by} is ${shortenInput(typed ?? '')}, and the version of ${what} is ${shortenInput(actual ?? '')}`,
    given.hint,
  );
}

const typedVersion = { by: '--target-version', hint: 'leave out `--target-version`' };

/** The options of a preflight that its checks may use. */
export interface PreflightOptions {
  readonly method: MigrationMethod;
  /** Version of the target, such as `17` or `7.2`; undefined if not given. */
  readonly targetVersion: string | undefined;
  /**
   * Extensions or modules that the target provides besides the trusted ones of PostgreSQL, as `name` or `name=version`;
   * undefined if not given. The list may be incomplete.
   */
  readonly targetExtensions: readonly string[] | undefined;
  /** The server that was named as the target, with what it reports if it was read; undefined if none was named. */
  readonly target: NamedTarget | undefined;
  readonly ignoreDbs: readonly string[];
  readonly disableSsl: boolean;
  /**
   * Whether the service connects over the internet, so that a private address of the source is a failure. False when
   * the API has a loopback address, and with `--allow-private`.
   */
  readonly isOverInternet: boolean;
  /** Free bytes on the disk of the source, given by the user because no query reports them. */
  readonly sourceDiskFree: number | undefined;
  /** Memory of the Redis target in bytes; absent if not given. */
  readonly targetMemory?: number | undefined;
  /** The number of databases of the Redis target; absent if it was not read. */
  readonly targetDatabases?: number | undefined;
  /** Ids of the findings that `--accept` waives. */
  readonly accept: readonly string[];
  /** Whether warnings block the migration (`--strict`). */
  readonly strict: boolean;
  /** Whether checks may write to the source or make it fork (`--probe`). */
  readonly probe: boolean;
  /** The limits of reading the rows of every table (`--deep`); absent if rows are not read. */
  readonly deep?: DeepOptions | undefined;
  /** The present time in milliseconds since the epoch. */
  readonly now: number;
  /** The cluster that this source is or was last migrated into, as far as it is known. */
  readonly cluster?: string | undefined;
}

export interface DeepOptions {
  readonly bytesPerSecond: number;
  /** Time limit in milliseconds for reading all rows; undefined: no limit. */
  readonly timeout: number | undefined;
}

/** The entries `name` or `name=version` of `--target-extensions`, by name; an entry without a version adds nothing. */
export function namedExtensions(entries: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const entry of entries) {
    const [name = '', version] = entry.split(/=(.*)/s);
    const key = name.toLowerCase();
    found.set(key, [...(found.get(key) ?? []), ...(version === undefined ? [] : [version])]);
  }
  return found;
}

const deepOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'deep',
    description:
      'Read every row once (PostgreSQL): finds damaged pages, invalid bytes, rows over 1 GB, equal keys under a unique index',
  },
  { name: 'deep-rate', valueName: 'MB', description: 'Limit of --deep in MB per second (default: 50)' },
  { name: 'deep-timeout', valueName: 'DURATION', description: 'Time limit of --deep (default: none)' },
];

/** The options of a preflight that can read rows. */
export const deepPreflightSpecs: readonly OptionSpec[] = [...preflightOptionSpecs, ...deepOptionSpecs];

/**
 * The options of a preflight that can read rows, as typed. Throws a usage error for an invalid option.
 * @param now milliseconds since the epoch
 */
export function readDeepPreflight(
  args: ParsedArgs,
  engine: 'postgresql' | 'redis',
  settings: ProfileSettings,
  now: number,
): PreflightOptions {
  return { ...readPreflightOptions(args, engine, settings, now), deep: readDeepOptions(args, engine) };
}

function readDeepOptions(args: ParsedArgs, engine: 'postgresql' | 'redis'): DeepOptions | undefined {
  const unused = deepOptionSpecs.find(({ name }) => args.has(name) && !args.has('deep'));
  if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --deep`, 'add `--deep`');
  if (!args.has('deep')) return undefined;
  if (engine === 'redis') throw usageError('cannot use --deep with Redis', 'leave out `--deep`');
  const timeout = args.value('deep-timeout');
  return {
    bytesPerSecond: readMegabytes(args.value('deep-rate') ?? '50') * 1024 ** 2,
    timeout: timeout === undefined ? undefined : requireDuration(timeout, '--deep-timeout', 1000),
  };
}

function readMegabytes(text: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw usageError(`--deep-rate is not a number of MB per second: "${shortenInput(text)}"`, 'use `--deep-rate 50`');
}

/**
 * Prompts for the version of the target, because most checks with the status `unknown` depend on it. Without a
 * terminal, and with `--yes`, there is no prompt and the version remains unknown.
 */
export async function promptTargetVersion(
  { prompts, globals }: Pick<CommandIo, 'prompts' | 'globals'>,
  engine: 'postgresql' | 'redis',
  options: PreflightOptions,
): Promise<PreflightOptions> {
  if (options.targetVersion !== undefined || !prompts.interactive || globals.has('yes')) return options;
  const example = engine === 'redis' ? 'valkey-8' : '17';
  const typed = await prompts.ask({
    name: 'target version',
    option: '--target-version',
    message: `Version of the target cluster, such as ${example} (leave empty if unknown)`,
    validate: (text) =>
      text.trim() === '' || isTargetVersion(text.trim(), engine) || `Write the version as in ${example}.`,
  });
  return typed.trim() === '' ? options : { ...options, targetVersion: typed.trim() };
}

/** Finds the known word closest to a misspelt one; undefined if no word is close. */
export type WordFinder = (word: string, known: readonly string[]) => string | undefined;

/** Throws a CliError (usage) if `--accept` contains an id that no check has. */
export function rejectUnknownIds(accepted: readonly string[], ids: readonly string[], nearest: WordFinder): void {
  const unknown = accepted.filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  throw usageError(
    `unknown check id: ${unknown.map(doubleQuote).join(', ')}`,
    wordHint(unknown, ids, nearest) ?? `use an id of the report, such as --accept ${ids[0] ?? 'ID'}`,
  );
}

export function wordHint(words: readonly string[], known: readonly string[], nearest: WordFinder): string | undefined {
  const near = words.flatMap((word) => nearest(word, known) ?? []);
  return near.length === 0 ? undefined : `did you mean ${near.map(doubleQuote).join(', ')}?`;
}

export function doubleQuote(word: string): string {
  return `"${word}"`;
}
