import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { requireNonEmptyValue } from '../../cli/require-non-empty-value.ts';
import { type CliError, usageError } from '../../errors.ts';
import { isLosslessNumberObject } from '../../exact.ts';
import { tryParseExactJson, tryParseJson } from '../../json.ts';
import { countTagsAddedByBatch } from '../ledger/batch-id.ts';
import {
  type BatchDescriptionLedgerEvent,
  type ExistingNamePolicy,
  existingNameChoices,
} from '../ledger/batch-ledger-event.ts';
import type { DropletAttributes } from '../sending/droplet-creation-requests.ts';
import { readGivenDropletAttributes } from './attribute-options.ts';
import { expandDropletNames } from './expand-droplet-names.ts';
import type { DropletUserDataDigest } from './user-data.ts';

/** Reads the names from the arguments, --names and --names-from together. */
export async function readBatchDropletNames(io: Pick<CommandIo, 'host'>, args: ParsedArgs): Promise<readonly string[]> {
  const file = requireNonEmptyValue(args, 'names-from', 'names.txt');
  return expandDropletNames([...args.positionals, ...args.values('names'), ...(await readNamesFrom(io, file))]);
}

/**
 * The error for an empty list of names. The error names the source of the list, because in a pipe the program that writes the
 * names may have failed.
 */
export function noDropletNamesError(args: ParsedArgs): CliError {
  const file = args.value('names-from');
  if (file === undefined)
    return usageError('names are missing', 'give names as arguments, with --names or with --names-from');
  return usageError(`no names in ${file === '-' ? 'standard input' : file}`, 'write one name per line');
}

export function readDropletAttributes(args: ParsedArgs, userData?: DropletUserDataDigest): DropletAttributes {
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

export function readExistingNamePolicy(args: ParsedArgs): ExistingNamePolicy {
  return existingNameChoices.find((one) => one === args.value('if-exists')) ?? 'fail';
}

/** A resumed batch keeps its names and attributes, so options that repeat them must have the recorded values. */
export async function requireOptionsMatchBatchLedger(
  io: Pick<CommandIo, 'host'>,
  args: ParsedArgs,
  batch: BatchDescriptionLedgerEvent,
): Promise<void> {
  const names = await readBatchDropletNames(io, args);
  const { size, image, region, given } = readTypedAttributes(args);
  const recorded = batch.attributes;
  const contradictions: readonly (readonly [option: string, isContradicted: boolean])[] = [
    ['the names', names.length > 0 && !isDeepStrictEqual(names, batch.names)],
    ['--size', size !== undefined && size !== recorded.size],
    ['--image', image !== undefined && image !== recorded.image],
    ['--region', region !== undefined && region !== recorded.region],
    ...given.map(({ key, value, option }) => [option, !isDeepStrictEqual(value, recordedExtra(batch)[key])] as const),
    ['--if-exists', args.value('if-exists') !== undefined && readExistingNamePolicy(args) !== batch.if_exists],
    ['--mark', args.has('mark') && (!batch.mark || batch.content_hash !== undefined)],
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

/** The additional attributes without the tags that --mark or --batch-id added. */
function recordedExtra(batch: BatchDescriptionLedgerEvent): Readonly<Record<string, unknown>> {
  const { extra } = batch.attributes;
  return batch.mark && Array.isArray(extra.tags)
    ? { ...extra, tags: extra.tags.slice(0, -countTagsAddedByBatch(batch)) }
    : extra;
}

async function readNamesFrom(io: Pick<CommandIo, 'host'>, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = file === '-' ? await readAll(io.host.stdin) : readNamesFile(file);
  // The function expandNames removes white space around each line, including a carriage return.
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  // A line break at the end of the file ends the last name and does not begin an empty one.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function readNamesFile(file: string): string {
  try {
    const bytes = readFileSync(file);
    // Windows PowerShell writes redirected output as UTF-16.
    return bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  } catch (error) {
    throw usageError(
      `could not read the file of names: ${error instanceof Error ? error.message : String(error)}`,
      'give a readable file, as in `--names-from names.txt`',
    );
  }
}

function readTypedAttributes(args: ParsedArgs) {
  const image = requireNonEmptyValue(args, 'image', 'ubuntu-24-04-x64');
  return {
    size: requireNonEmptyValue(args, 'size', 's-1vcpu-1gb'),
    image: image !== undefined && /^\d+$/.test(image) ? parseImageId(image) : image,
    region: requireNonEmptyValue(args, 'region', 'nyc3'),
    given: readGivenDropletAttributes(args, args.values('set').map(parseSetOption)),
  };
}

function parseImageId(image: string): number {
  const id = Number(image);
  // A double cannot represent an image id above 2^53 exactly, so another image could be selected.
  if (!Number.isSafeInteger(id)) throw usageError(`--image is not an image id: ${image}`, 'use the slug of the image');
  return id;
}

function parseSetOption(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(at, 0));
  const reserved = ['name', 'names', 'size', 'image', 'region'];
  const json = tryParseJson(text.slice(at + 1));
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
  const exact = tryParseExactJson(text.slice(at + 1));
  const inexact = exact.ok ? findInexactNumber(exact.value) : undefined;
  if (inexact !== undefined)
    throw usageError(
      `--set ${key} has a number that a double cannot hold: ${inexact}`,
      'write the number as a string, if the server accepts a string',
    );
  return [key, json.value];
}

/** The first number in the value that JSON.stringify would change: above 2^53, or too large for a double. */
function findInexactNumber(value: unknown): string | undefined {
  if (isLosslessNumberObject(value)) {
    const [text, number] = [String(value), Number(value)];
    return !Number.isFinite(number) || (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) ? text : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = findInexactNumber(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
