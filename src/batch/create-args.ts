import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { requireNonEmptyValue } from '../cli/required-value.ts';
import { type CliError, usageError } from '../errors.ts';
import { isExactNumber } from '../exact.ts';
import { parseExactJson, parseJson } from '../json.ts';
import type { DropletAttributes } from './droplet-requests.ts';
import { expandNames } from './expand-names.ts';
import { type BatchEvent, type IfExists, ifExistsChoices } from './ledger-event.ts';

/** The names of all sources together; none when none was given. */
export async function readBatchNames(context: CommandIo, words: ParsedArgs): Promise<readonly string[]> {
  const file = requireNonEmptyValue(words, 'names-from', 'names.txt');
  return expandNames([...words.positionals, ...words.values('names'), ...(await readNamesFrom(context, file))]);
}

/** What was to give the names may have given none: a program that failed before this one, in a pipe. */
export function noNamesError(words: ParsedArgs): CliError {
  const file = words.value('names-from');
  if (file === undefined)
    return usageError('names are missing', 'give them as arguments, with --names or with --names-from');
  return usageError(`there are no names in ${file === '-' ? 'standard input' : file}`, 'give one name a line');
}

export function readDropletAttributes(words: ParsedArgs): DropletAttributes {
  const { size, image, region, extra } = readTypedAttributes(words);
  if (size === undefined || image === undefined) {
    const missing = [size === undefined ? '--size' : '', image === undefined ? '--image' : ''].filter(Boolean);
    throw usageError(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      'give them as in `--size s-1vcpu-1gb --image ubuntu-24-04-x64`',
    );
  }
  return { size, image, ...(region === undefined ? {} : { region }), extra };
}

export function readIfExists(words: ParsedArgs): IfExists {
  return ifExistsChoices.find((one) => one === words.value('if-exists')) ?? 'fail';
}

/** A resumed batch goes on as it was begun: what is typed again must be the same. */
export async function requireSameBatch(context: CommandIo, words: ParsedArgs, batch: BatchEvent): Promise<void> {
  const names = await readBatchNames(context, words);
  const { size, image, region, extra } = readTypedAttributes(words);
  const recorded = batch.attributes;
  const contradictions: readonly (readonly [option: string, isOne: boolean])[] = [
    ['the names', names.length > 0 && !isDeepStrictEqual(names, batch.names)],
    ['--size', size !== undefined && size !== recorded.size],
    ['--image', image !== undefined && image !== recorded.image],
    ['--region', region !== undefined && region !== recorded.region],
    ['--set', Object.entries(extra).some(([key, value]) => !isDeepStrictEqual(value, recordedExtra(batch)[key]))],
    ['--if-exists', words.value('if-exists') !== undefined && readIfExists(words) !== batch.if_exists],
    ['--mark', words.has('mark') && !batch.mark],
  ];
  const found = contradictions.filter(([, isOne]) => isOne).map(([option]) => option);
  if (found.length === 0) return;
  throw usageError(
    `${found.join(' and ')} ${found.length === 1 && found[0]?.startsWith('--') ? 'contradicts' : 'contradict'} the ledger`,
    'give --resume alone: the names and attributes are recorded in it',
  );
}

/** Without the tag that --mark added. */
function recordedExtra({ mark, attributes: { extra } }: BatchEvent): Readonly<Record<string, unknown>> {
  return mark && Array.isArray(extra.tags) ? { ...extra, tags: extra.tags.slice(0, -1) } : extra;
}

async function readNamesFrom(context: CommandIo, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = file === '-' ? await readAll(context.host.stdin) : readNamesFile(file);
  // A carriage return before it goes with the blanks around a name.
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  // The newline at the end of the last line begins no name.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function readNamesFile(file: string): string {
  try {
    const bytes = readFileSync(file);
    // As Windows PowerShell writes whatever is redirected to a file.
    return bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  } catch (error) {
    throw usageError(
      `could not read the names: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that can be read, as in `--names-from names.txt`',
    );
  }
}

function readTypedAttributes(words: ParsedArgs) {
  const image = requireNonEmptyValue(words, 'image', 'ubuntu-24-04-x64');
  return {
    size: requireNonEmptyValue(words, 'size', 's-1vcpu-1gb'),
    image: image !== undefined && /^\d+$/.test(image) ? parseImageId(image) : image,
    region: requireNonEmptyValue(words, 'region', 'nyc3'),
    extra: Object.fromEntries(words.values('set').map(parseSetOption)),
  };
}

function parseImageId(image: string): number {
  const id = Number(image);
  // It would be the id of another image.
  if (!Number.isSafeInteger(id))
    throw usageError(`--image is no id of an image: ${image}`, '`--image` takes a slug as well');
  return id;
}

function parseSetOption(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(at, 0));
  const reserved = ['name', 'names', 'size', 'image', 'region'];
  const json = parseJson(text.slice(at + 1));
  if (!/^[a-z][a-z0-9_]*$/.test(key) || !json.ok)
    throw usageError(
      '--set is not KEY=JSON',
      'as in `--set tags=\'["web"]\'` or `--set ipv6=true`; text needs its quotes: `--set user_data=\'"…"\'`',
    );
  if (reserved.includes(key))
    throw usageError(`--set cannot give ${key}`, key.startsWith('name') ? 'names are arguments' : `use --${key}`);
  const exact = parseExactJson(text.slice(at + 1));
  const changed = exact.ok ? findInexactNumber(exact.value) : undefined;
  if (changed !== undefined)
    throw usageError(
      `--set ${key} has a number that would not be sent as it is: ${changed}`,
      'write it as text, in quotes, if the server takes that',
    );
  return [key, json.value];
}

/** A whole number of which a double is another one, or a number that is too large to be one. */
function findInexactNumber(value: unknown): string | undefined {
  if (isExactNumber(value)) {
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
