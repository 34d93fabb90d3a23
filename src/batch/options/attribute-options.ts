import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { requireNonEmptyValue } from '../../cli/require-non-empty-value.ts';
import { shortenInputForError } from '../../cli/shorten-input-for-error.ts';
import { usageError } from '../../errors.ts';
import { dropletUserDataOption } from './user-data.ts';

/** Options for droplet attributes that can also be given with `--set`. */
export const optionalDropletAttributeOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'tag-names',
    valueName: 'a,b',
    multiple: 'list',
    description: 'Tags of every droplet, in addition to those of --set tags',
  },
  {
    name: 'ssh-keys',
    valueName: 'a,b',
    multiple: 'list',
    description: 'SSH keys of every droplet: ids or fingerprints',
  },
  dropletUserDataOption,
  { name: 'vpc-uuid', valueName: 'UUID', description: 'VPC network of every droplet' },
  { name: 'enable-backups', description: 'Enable backups' },
  { name: 'ipv6', description: 'Enable IPv6' },
  { name: 'monitoring', description: 'Install the monitoring agent' },
];

/** A droplet attribute with the name of the option that set it. */
export interface DropletAttributeFromOption {
  readonly key: string;
  readonly value: unknown;
  readonly option: string;
}

const flags = [
  ['backups', 'enable-backups'],
  ['ipv6', 'ipv6'],
  ['monitoring', 'monitoring'],
] as const;

/**
 * Reads the attributes of `--set` and of the options in `optionalDropletAttributeOptionSpecs`. Tags of both sources are merged; any other
 * attribute that both set is an error. @param set the attributes of `--set`
 */
export function readGivenDropletAttributes(
  args: ParsedArgs,
  set: readonly (readonly [string, unknown])[],
): readonly DropletAttributeFromOption[] {
  const settings = new Map(set);
  const given: DropletAttributeFromOption[] = [...settings].map(([key, value]) => ({ key, value, option: '--set' }));
  if (args.has(dropletUserDataOption.name)) requireUnset('user_data', dropletUserDataOption.name, settings);
  for (const { key, value, option } of readOptions(args)) {
    if (key !== 'tags') requireUnset(key, option, settings);
    const name = `--${option}`;
    if (key === 'tags' && settings.has('tags')) {
      const merged = { key, value: mergeTags(settings.get('tags'), value), option: `--set and ${name}` };
      given.splice(
        given.findIndex((one) => one.key === 'tags'),
        1,
        merged,
      );
    } else given.push({ key, value, option: name });
  }
  return given;
}

function readOptions(args: ParsedArgs): readonly DropletAttributeFromOption[] {
  const vpc = requireNonEmptyValue(args, 'vpc-uuid', '5a4981aa-9653-4bd1-bef5-d6bff52042e4');
  if (vpc !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(vpc))
    throw usageError(`--vpc-uuid is not a UUID: ${shortenInputForError(vpc)}`, 'use the UUID of the VPC network');
  return [
    ...(args.has('tag-names')
      ? [{ key: 'tags', value: withoutRepetitions(args.values('tag-names').map(requireTag)), option: 'tag-names' }]
      : []),
    ...(args.has('ssh-keys')
      ? [{ key: 'ssh_keys', value: args.values('ssh-keys').map(parseSshKey), option: 'ssh-keys' }]
      : []),
    ...(vpc === undefined ? [] : [{ key: 'vpc_uuid', value: vpc, option: 'vpc-uuid' }]),
    ...flags.flatMap(([key, option]) => (args.has(option) ? [{ key, value: true, option }] : [])),
  ];
}

function requireUnset(key: string, option: string, settings: ReadonlyMap<string, unknown>): void {
  if (settings.has(key)) throw usageError(`cannot combine --${option} and --set ${key}`, `remove \`--set ${key}=…\``);
}

function requireTag(tag: string): string {
  if (/^[A-Za-z0-9:_-]{1,255}$/.test(tag)) return tag;
  throw usageError(
    `--tag-names has a tag that is not valid: ${shortenInputForError(tag)}`,
    'write tags as in `--tag-names web,env:prod`',
    'a tag is 1 to 255 letters, digits, ":", "-" and "_"',
  );
}

/** An SSH key id is sent as a number, a fingerprint as text. */
function parseSshKey(key: string): string | number {
  if (/^\d+$/.test(key) && Number.isSafeInteger(Number(key))) return Number(key);
  if (/^[A-Za-z0-9:+/=_-]{1,255}$/.test(key) && !/^\d+$/.test(key)) return key;
  throw usageError(
    `--ssh-keys has a value that is neither an id nor a fingerprint: ${shortenInputForError(key)}`,
    'write ids and fingerprints as in `--ssh-keys 512189,3b:16:bf:e4:8b:00:8b:b8:59:8c:a9:d3:f0:19:45:fa`',
  );
}

function mergeTags(set: unknown, tags: unknown): readonly string[] {
  const isList = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isList(set) && isList(tags)) return withoutRepetitions([...set, ...tags]);
  throw usageError(
    '--set tags is not a list of strings',
    'write the tags as in `--set tags=\'["web"]\'`; --tag-names adds tags',
  );
}

/** Tags are compared without case; of equal tags, the first spelling is kept. */
function withoutRepetitions(tags: readonly string[]): readonly string[] {
  const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();
  return tags.filter((tag, at) => tags.findIndex((one) => isSame(one, tag)) === at);
}
