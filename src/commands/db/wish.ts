import type { OptionSpec, Words } from '../../cli/command.ts';
import { wholeNumber } from '../../cli/number.ts';
import type { Settings } from '../../config/settings.ts';
import { usage } from '../../errors.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { releaseNamed } from '../../postgresql/version.ts';
import type { Method } from '../../preflight/finding.ts';
import type { Wish } from '../../preflight/wish.ts';

/** The options that say how a source is judged (contract.md §6). */
export const wishOptions: readonly OptionSpec[] = [
  { name: 'target-version', value: 'V', description: 'version of the target, as in 17, redis-7.2 or valkey-8' },
  {
    name: 'target-extensions',
    value: 'a,b',
    many: 'list',
    description: 'extensions, or Redis modules, the target offers',
  },
  {
    name: 'method',
    value: 'METHOD',
    description: 'the method that must be possible (continuous)',
    choices: ['continuous', 'dump', 'scan'],
  },
  { name: 'accept', value: 'ID,..', many: 'list', description: 'waive findings by id; the report records it' },
  { name: 'strict', description: 'warnings block as well' },
  { name: 'probe', description: 'allow checks that write or fork on the source; the report says what they did' },
  {
    name: 'source-disk-free',
    value: 'BYTES',
    description: 'free space on the disk of the source, which SQL cannot tell',
  },
  { name: 'target-memory', value: 'BYTES', description: 'memory of the target (Redis)' },
  { name: 'allow-private', description: 'let private and loopback addresses pass' },
  { name: 'judge-as-public', description: 'judge addresses as the service would see them, whatever base_url is' },
  { name: 'deadline', value: 'DURATION', description: 'the limit of the whole preflight (60s)' },
  { name: 'show-queries', description: 'print on stderr all that is sent to the source' },
];

/** Everything a judge weighs besides the facts. A loopback API counts as a service on this machine. */
export function wishOf(words: Words, engine: 'postgresql' | 'redis', settings: Settings, now: number): Wish {
  const method = methodOf(words.text('method'), engine);
  const targetVersion = words.text('target-version');
  if (targetVersion !== undefined && !isVersion(targetVersion, engine)) {
    throw usage(
      '--target-version is no version',
      engine === 'redis' ? 'write it as in `redis-7.2` or `valkey-8`' : 'write it as in `17`',
    );
  }
  const free = words.text('source-disk-free');
  const memory = words.text('target-memory');
  const extensions = words.list('target-extensions');
  const base = settings.values.base_url;
  const isLocal = base !== undefined && isLoopbackHost(new URL(base).hostname);
  return {
    method,
    targetVersion,
    targetExtensions: extensions.length === 0 ? undefined : extensions.map((name) => name.toLowerCase()),
    target: undefined,
    ignoreDbs: words.list('ignore-dbs'),
    disableSsl: words.flag('disable-ssl'),
    asPublic: words.flag('judge-as-public') || !(isLocal || words.flag('allow-private')),
    sourceDiskFree: free === undefined ? undefined : wholeNumber(free, '--source-disk-free'),
    ...(memory === undefined ? {} : { targetMemory: wholeNumber(memory, '--target-memory', { min: 1 }) }),
    accept: words.list('accept'),
    strict: words.flag('strict'),
    probe: words.flag('probe'),
    now,
  };
}

function methodOf(typed: string | undefined, engine: 'postgresql' | 'redis'): Method {
  if (typed === 'dump' && engine === 'redis') throw usage('cannot use --method dump with Redis', 'use `--method scan`');
  if (typed === 'scan' && engine === 'postgresql')
    throw usage('cannot use --method scan with PostgreSQL', 'use `--method dump`');
  return typed === 'dump' || typed === 'scan' ? typed : 'continuous';
}

function isVersion(text: string, engine: 'postgresql' | 'redis'): boolean {
  return engine === 'redis' ? /^([a-z]+-)?\d{1,3}(\.\d{1,3}){0,2}$/i.test(text) : releaseNamed(text) !== undefined;
}
