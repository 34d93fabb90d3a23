import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { requireWholeNumber } from '../cli/whole-number.ts';
import type { ProfileSettings } from '../config/settings.ts';
import { usageError } from '../errors.ts';
import { isLoopbackHost } from '../platform/loopback-host.ts';
import { parseMajorVersion } from '../postgresql/version.ts';
import type { MigrationMethod } from './finding.ts';
import type { PreflightOptions } from './preflight-options.ts';

/** The options that say how a source is judged (contract.md §6). */
export const preflightOptionSpecs: readonly OptionSpec[] = [
  { name: 'target-version', valueName: 'V', description: 'version of the target, as in 17, redis-7.2 or valkey-8' },
  {
    name: 'target-extensions',
    valueName: 'a,b',
    multiple: 'list',
    description: 'extensions, or Redis modules, the target offers',
  },
  {
    name: 'method',
    valueName: 'METHOD',
    description: 'the method that must be possible (continuous)',
    choices: ['continuous', 'dump', 'scan'],
  },
  { name: 'accept', valueName: 'ID,..', multiple: 'list', description: 'waive findings by id; the report records it' },
  { name: 'strict', description: 'warnings block as well' },
  { name: 'probe', description: 'allow checks that write or fork on the source; the report says what they did' },
  {
    name: 'source-disk-free',
    valueName: 'BYTES',
    description: 'free space on the disk of the source, which SQL cannot tell',
  },
  { name: 'target-memory', valueName: 'BYTES', description: 'memory of the target (Redis)' },
  { name: 'allow-private', description: 'let private and loopback addresses pass' },
  { name: 'judge-as-public', description: 'judge addresses as the service would see them, whatever base_url is' },
  { name: 'deadline', valueName: 'DURATION', description: 'the limit of the whole preflight (60s)' },
  { name: 'show-queries', description: 'print on stderr all that is sent to the source' },
];

/** Everything a judge weighs besides the facts. A loopback API counts as a service on this machine. */
export function readPreflightOptions(
  words: ParsedArgs,
  engine: 'postgresql' | 'redis',
  settings: ProfileSettings,
  now: number,
): PreflightOptions {
  const method = readMethod(words.value('method'), engine);
  const targetVersion = words.value('target-version');
  if (targetVersion !== undefined && !isVersion(targetVersion, engine)) {
    throw usageError(
      '--target-version is no version',
      engine === 'redis' ? 'write it as in `redis-7.2` or `valkey-8`' : 'write it as in `17`',
    );
  }
  const free = words.value('source-disk-free');
  const memory = words.value('target-memory');
  const extensions = words.values('target-extensions');
  const base = settings.values.base_url;
  const isLocal = base !== undefined && isLoopbackHost(new URL(base).hostname);
  return {
    method,
    targetVersion,
    targetExtensions: extensions.length === 0 ? undefined : extensions.map((name) => name.toLowerCase()),
    target: undefined,
    ignoreDbs: words.values('ignore-dbs'),
    disableSsl: words.has('disable-ssl'),
    asPublic: words.has('judge-as-public') || !(isLocal || words.has('allow-private')),
    sourceDiskFree: free === undefined ? undefined : requireWholeNumber(free, '--source-disk-free'),
    ...(memory === undefined ? {} : { targetMemory: requireWholeNumber(memory, '--target-memory', { min: 1 }) }),
    accept: words.values('accept'),
    strict: words.has('strict'),
    probe: words.has('probe'),
    now,
  };
}

function readMethod(typed: string | undefined, engine: 'postgresql' | 'redis'): MigrationMethod {
  if (typed === 'dump' && engine === 'redis')
    throw usageError('cannot use --method dump with Redis', 'use `--method scan`');
  if (typed === 'scan' && engine === 'postgresql')
    throw usageError('cannot use --method scan with PostgreSQL', 'use `--method dump`');
  return typed === 'dump' || typed === 'scan' ? typed : 'continuous';
}

function isVersion(text: string, engine: 'postgresql' | 'redis'): boolean {
  return engine === 'redis' ? /^([a-z]+-)?\d{1,3}(\.\d{1,3}){0,2}$/i.test(text) : parseMajorVersion(text) !== undefined;
}
