import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { shortenInputForError } from '../../cli/shorten-input-for-error.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { parsePostgresqlMajorVersion } from '../../postgresql/version.ts';
import { parseRedisTargetVersion } from '../../redis/version.ts';
import type { MigrationMethod } from './finding.ts';
import type { PreflightOptions } from './preflight-options.ts';

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
  settings: ResolvedProfileSettings,
  now: number,
): PreflightOptions {
  const method = readMethod(args.value('method'), engine);
  const targetVersion = args.value('target-version');
  if (targetVersion !== undefined && !isWellFormedTargetVersion(targetVersion, engine)) {
    throw usageError(
      `--target-version is not a version: ${shortenInputForError(targetVersion)}`,
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
    sourceDiskFree: diskFree === undefined ? undefined : requireWholeNumber(diskFree, '--source-disk-free'),
    ...(memory === undefined ? {} : { targetMemory: requireWholeNumber(memory, '--target-memory', { min: 1 }) }),
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
    `--target-extensions has an entry without a name or a version: ${shortenInputForError(entry)}`,
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
export function isWellFormedTargetVersion(text: string, engine: 'postgresql' | 'redis'): boolean {
  return engine === 'redis'
    ? /^([a-z]+-)?\d{1,3}(\.\d{1,3}){0,2}$/i.test(text)
    : parsePostgresqlMajorVersion(text) !== undefined;
}

/** Whether two versions of a target cannot both be true; a version that is not known contradicts nothing. */
function isContradictingTargetVersion(
  engine: 'postgresql' | 'redis',
  one: string | undefined,
  other: string | undefined,
): boolean {
  if (one === undefined || other === undefined) return false;
  if (engine === 'postgresql') {
    const [first, second] = [parsePostgresqlMajorVersion(one), parsePostgresqlMajorVersion(other)];
    return first !== undefined && second !== undefined && first !== second;
  }
  const [first, second] = [parseRedisTargetVersion(one), parseRedisTargetVersion(other)];
  if (first === undefined || second === undefined) return false;
  const differs = (left: unknown, right: unknown) => left !== undefined && right !== undefined && left !== right;
  return differs(first.product, second.product) || first.major !== second.major || differs(first.minor, second.minor);
}

/**
 * Throws a usage error if `--target-version` is not the version of the target.
 * @param what the target, as a noun
 */
export function requireTargetVersion(
  engine: 'postgresql' | 'redis',
  typed: string | undefined,
  actual: string | undefined,
  what: string,
): void {
  if (!isContradictingTargetVersion(engine, typed, actual)) return;
  throw usageError(
    `--target-version is ${shortenInputForError(typed ?? '')}, and the version of ${what} is ${shortenInputForError(actual ?? '')}`,
    'leave out `--target-version`',
  );
}
