import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../base/errors.ts';
import { type ExactNumber, exactNumber } from '../base/exact.ts';
import { tryParseExactJson } from '../base/json.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import type { UserInput } from '../cli/user-file.ts';
import { requireValue, shortenInput } from '../cli/values.ts';
import type { ProfileSettings } from '../config/settings.ts';
import type { HostSystem } from '../platform/host.ts';
import { type Attributes, type Batch, type IfExists, ifExistsChoices } from './events.ts';
import { isResumable } from './ledger.ts';
import { addedTags, deriveBatch } from './match.ts';
import { noNamesError, readNames } from './names.ts';
import { type BatchState, isFinished } from './state.ts';
import { requireSameUserData, type UserData, type UserDataDigest, userDataOption } from './user-data.ts';

/** Creates the batch that the arguments describe. */
export async function describeBatch(
  host: UserInput & Pick<HostSystem, 'clock' | 'random'>,
  args: ParsedArgs,
  settings: Pick<ProfileSettings, 'profileName' | 'values'>,
  userData: UserData | undefined,
): Promise<Batch> {
  const names = await readNames(host, args);
  if (names.length === 0) throw noNamesError(args);
  const typed = readAttributes(args, userData);
  const shared = readBatchId(args);
  const id = shared ?? Buffer.from(host.random(6)).toString('hex');
  const identified = shared === undefined ? { id, attributes: typed } : deriveBatch(id, names, typed);
  if (identified === undefined)
    throw usageError(
      '--set tags is not a list of strings',
      'write the tags as in `--set tags=\'["web"]\'`; --batch-id adds tags',
    );
  return {
    event: 'batch',
    v: 1,
    at: new Date(host.clock.now()).toISOString(),
    profile: settings.profileName,
    base_url: settings.values.base_url ?? '',
    if_exists: readIfExists(args),
    ...identified,
    names,
  };
}

/** Reads the id of `--batch-id` in lower case, because services compare tags case-insensitively. */
function readBatchId(args: ParsedArgs): string | undefined {
  const text = requireValue(args, 'batch-id', 'nightly-2026');
  if (text === undefined) return undefined;
  const hint = 'use letters, digits and signs such as `.`, `/`, `-` and `_`, as in `--batch-id release/v1.2.3`';
  if (text.length > maxIdLength)
    throw usageError(`--batch-id has ${text.length} characters: at most ${maxIdLength} are allowed`, hint);
  const wrong = [...text].find((character) => !/[!-~]/.test(character));
  if (wrong !== undefined)
    throw usageError(`--batch-id has a character that is not allowed: ${JSON.stringify(wrong)}`, hint);
  return text.toLowerCase();
}

const maxIdLength = 64;

function readAttributes(args: ParsedArgs, userData?: UserDataDigest): Attributes {
  const { size, image, region, given } = readTypedAttributes(args);
  if (size === undefined || image === undefined) {
    const missing = [size === undefined ? '--size' : '', image === undefined ? '--image' : ''].filter(Boolean);
    throw usageError(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      'add the missing options, as in `--size s-1vcpu-1gb --image ubuntu-24-04-x64`',
    );
  }
  const extra = Object.fromEntries(given.map(({ key, value }) => [key, value]));
  const user_data = userData === undefined ? {} : { user_data: { sha256: userData.sha256, bytes: userData.bytes } };
  return { size, image, ...(region === undefined ? {} : { region }), extra, ...user_data };
}

function readIfExists(args: ParsedArgs): IfExists {
  return ifExistsChoices.find((one) => one === args.value('if-exists')) ?? 'fail';
}

/**
 * A resumed batch keeps its names and attributes, so options that repeat them must have the recorded values. User data is not
 * recorded, so it must be given again.
 */
export async function requireSameOptions(
  host: UserInput,
  args: ParsedArgs,
  state: BatchState,
  userData: UserData | undefined,
): Promise<void> {
  requireNoContradiction(await readNames(host, args), args, state.batch);
  requireSameUserData(userData, state.batch.attributes.user_data, isFinished(state));
}

function requireNoContradiction(names: readonly string[], args: ParsedArgs, batch: Batch): void {
  const { size, image, region, given } = readTypedAttributes(args);
  const recorded = batch.attributes;
  const shared = readBatchId(args);
  const contradictions: readonly (readonly [option: string, isContradicted: boolean])[] = [
    ['the names', names.length > 0 && !isDeepStrictEqual(names, batch.names)],
    ['--size', size !== undefined && size !== recorded.size],
    ['--image', image !== undefined && String(image) !== String(recorded.image)],
    ['--region', region !== undefined && region !== recorded.region],
    ...given.map(({ key, value, option }) => [option, !isDeepStrictEqual(value, recordedExtra(batch)[key])] as const),
    ['--if-exists', args.value('if-exists') !== undefined && readIfExists(args) !== batch.if_exists],
    ['--batch-id', shared !== undefined && (batch.content_hash === undefined || shared !== batch.id)],
  ];
  const found = [...new Set(contradictions.filter(([, isContradicted]) => isContradicted).map(([option]) => option))];
  if (found.length === 0) return;
  throw usageError(
    `${found.join(' and ')} ${found.length === 1 && found[0]?.startsWith('--') ? 'contradicts' : 'contradict'} the ledger`,
    args.has('ledger')
      ? 'use the names and attributes of the ledger, or another file with `--ledger`'
      : 'use `--resume` without these options: the ledger has the names and attributes',
  );
}

/** The additional attributes without the tags that --batch-id added. */
export function recordedExtra(batch: Batch): Readonly<Record<string, unknown>> {
  const { extra } = batch.attributes;
  return batch.content_hash !== undefined && Array.isArray(extra.tags)
    ? { ...extra, tags: extra.tags.slice(0, -addedTags) }
    : extra;
}

function readTypedAttributes(args: ParsedArgs) {
  const image = requireValue(args, 'image', 'ubuntu-24-04-x64');
  return {
    size: requireValue(args, 'size', 's-1vcpu-1gb'),
    image: image !== undefined && /^\d+$/.test(image) ? exactNumber(image) : image,
    region: requireValue(args, 'region', 'nyc3'),
    given: readGivenAttributes(args, args.values('set').map(parseSetOption)),
  };
}

function parseSetOption(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(at, 0));
  const reserved = ['name', 'names', 'size', 'image', 'region'];
  const json = tryParseExactJson(text.slice(at + 1));
  if (!/^[a-z][a-z0-9_]*$/.test(key) || !json.ok)
    throw usageError(
      '--set is not KEY=JSON',
      'write the attribute as in `--set ipv6=true` or `--set tags=\'["web"]\'`; quote strings: `--set vpc_uuid=\'"…"\'`',
    );
  if (reserved.includes(key))
    throw usageError(
      `cannot use --set for ${key}`,
      key.startsWith('name') ? 'give names as arguments' : `use \`--${key}\``,
    );
  return [key, json.value];
}

/** Options for droplet attributes that can also be given with `--set`. */
export const attributeOptions: readonly OptionSpec[] = [
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
  userDataOption,
  { name: 'vpc-uuid', valueName: 'UUID', description: 'VPC network of every droplet' },
  { name: 'enable-backups', description: 'Enable backups' },
  { name: 'ipv6', description: 'Enable IPv6' },
  { name: 'monitoring', description: 'Install the monitoring agent' },
];

/** A droplet attribute with the name of the option that set it. */
interface GivenAttribute {
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
 * Reads the attributes of `--set` and of the options in `attributeOptions`. Tags of both sources are merged; any other
 * attribute that both set is an error. @param set the attributes of `--set`
 */
function readGivenAttributes(
  args: ParsedArgs,
  set: readonly (readonly [string, unknown])[],
): readonly GivenAttribute[] {
  const settings = new Map(set);
  const given: GivenAttribute[] = [...settings].map(([key, value]) => ({ key, value, option: '--set' }));
  if (args.has(userDataOption.name)) requireUnset('user_data', userDataOption.name, settings);
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

function readOptions(args: ParsedArgs): readonly GivenAttribute[] {
  const vpc = requireValue(args, 'vpc-uuid', '5a4981aa-9653-4bd1-bef5-d6bff52042e4');
  if (vpc !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(vpc))
    throw usageError(`--vpc-uuid is not a UUID: ${shortenInput(vpc)}`, 'use the UUID of the VPC network');
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
    `--tag-names has a tag that is not valid: ${shortenInput(tag)}`,
    'write tags as in `--tag-names web,env:prod`',
    'a tag is 1 to 255 letters, digits, ":", "-" and "_"',
  );
}

/** An SSH key id is sent as a number, a fingerprint as text. */
function parseSshKey(key: string): string | ExactNumber {
  if (/^\d{1,255}$/.test(key)) return exactNumber(key);
  if (/^[A-Za-z0-9:+/=_-]{1,255}$/.test(key)) return key;
  throw usageError(
    `--ssh-keys has a value that is neither an id nor a fingerprint: ${shortenInput(key)}`,
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

/** The ledger that a run uses: an existing one to resume, or a new one. */
interface LedgerSelection {
  /** The path of an existing ledger: from `--resume`, or from `--ledger` if that file is a ledger. */
  readonly resumed: string | undefined;
  /** The path at which `--ledger` creates the ledger. */
  readonly created: string | undefined;
}

/** Throws a usage error for options that exclude each other. */
export function readLedgerSelection(args: ParsedArgs): LedgerSelection {
  const resumed = requireValue(args, 'resume', '~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl');
  const file = requireValue(args, 'ledger', 'batch.jsonl');
  if (readBatchId(args) !== undefined && resumed !== undefined)
    throw usageError(
      '--batch-id and --resume exclude each other',
      'use `--ledger FILE` with `--batch-id`, or `--resume` alone: the ledger has the id',
    );
  if (resumed !== undefined && file !== undefined)
    throw usageError(
      '--ledger and --resume exclude each other',
      'use `--ledger`: it resumes the batch when the file exists',
    );
  if (args.has('plan') && args.has('dry-run'))
    throw usageError(
      '--plan and --dry-run exclude each other',
      'use `--plan` to ask the server what exists, or `--dry-run` to print the requests offline',
    );
  if (file === undefined) return { resumed, created: undefined };
  if (isResumable(file)) return { resumed: file, created: undefined };
  // A new ledger replaces an empty file. If the path is a symbolic link, such as /dev/stdout, another program may use the file.
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw usageError(
      '--ledger is a symbolic link to a file that is not a ledger',
      'use the path of a new file, as in `--ledger batch.jsonl`',
      file,
    );
  return { resumed: undefined, created: resolve(file) };
}
