import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { type BatchEvent, type IfExists, ifExists } from '../../batch/event.ts';
import { expandNames } from '../../batch/names.ts';
import type { Attributes } from '../../batch/requests.ts';
import type { Words } from '../../cli/command.ts';
import { given } from '../../cli/given.ts';
import type { Context } from '../../context.ts';
import { type CliError, usage } from '../../errors.ts';
import { isExact } from '../../exact.ts';
import { parseExactJson, parseJson } from '../../json.ts';

/** The names of all sources together; none when none was given. */
export async function namesOf(context: Context, words: Words): Promise<readonly string[]> {
  const file = given(words, 'names-from', 'names.txt');
  return expandNames([...words.args, ...words.list('names'), ...(await namesFrom(context, file))]);
}

/** What was to give the names may have given none: a program that failed before this one, in a pipe. */
export function noNames(words: Words): CliError {
  const file = words.text('names-from');
  if (file === undefined)
    return usage('names are missing', 'give them as arguments, with --names or with --names-from');
  return usage(`there are no names in ${file === '-' ? 'standard input' : file}`, 'give one name a line');
}

export function attributesOf(words: Words): Attributes {
  const { size, image, region, extra } = typedAttributes(words);
  if (size === undefined || image === undefined) {
    const missing = [size === undefined ? '--size' : '', image === undefined ? '--image' : ''].filter(Boolean);
    throw usage(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      'give them as in `--size s-1vcpu-1gb --image ubuntu-24-04-x64`',
    );
  }
  return { size, image, ...(region === undefined ? {} : { region }), extra };
}

export function ifExistsOf(words: Words): IfExists {
  return ifExists.find((one) => one === words.text('if-exists')) ?? 'fail';
}

/** A resumed batch goes on as it was begun: what is typed again must be the same. */
export async function requireSame(context: Context, words: Words, batch: BatchEvent): Promise<void> {
  const names = await namesOf(context, words);
  const { size, image, region, extra } = typedAttributes(words);
  const recorded = batch.attributes;
  const contradictions: readonly (readonly [option: string, isOne: boolean])[] = [
    ['the names', names.length > 0 && !isDeepStrictEqual(names, batch.names)],
    ['--size', size !== undefined && size !== recorded.size],
    ['--image', image !== undefined && image !== recorded.image],
    ['--region', region !== undefined && region !== recorded.region],
    ['--set', Object.entries(extra).some(([key, value]) => !isDeepStrictEqual(value, recordedExtra(batch)[key]))],
    ['--if-exists', words.text('if-exists') !== undefined && ifExistsOf(words) !== batch.if_exists],
    ['--mark', words.flag('mark') && !batch.mark],
  ];
  const found = contradictions.filter(([, isOne]) => isOne).map(([option]) => option);
  if (found.length === 0) return;
  throw usage(
    `${found.join(' and ')} ${found.length === 1 && found[0]?.startsWith('--') ? 'contradicts' : 'contradict'} the ledger`,
    'give --resume alone: the names and attributes are recorded in it',
  );
}

/** Without the tag that --mark added. */
function recordedExtra({ mark, attributes: { extra } }: BatchEvent): Readonly<Record<string, unknown>> {
  return mark && Array.isArray(extra.tags) ? { ...extra, tags: extra.tags.slice(0, -1) } : extra;
}

async function namesFrom(context: Context, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = file === '-' ? await readAll(context.host.stdin) : readNames(file);
  // A carriage return before it goes with the blanks around a name.
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  // The newline at the end of the last line begins no name.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function readNames(file: string): string {
  try {
    const bytes = readFileSync(file);
    // As Windows PowerShell writes whatever is redirected to a file.
    return bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  } catch (error) {
    throw usage(
      `could not read the names: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that can be read, as in `--names-from names.txt`',
    );
  }
}

function typedAttributes(words: Words) {
  const image = given(words, 'image', 'ubuntu-24-04-x64');
  return {
    size: given(words, 'size', 's-1vcpu-1gb'),
    image: image !== undefined && /^\d+$/.test(image) ? idOf(image) : image,
    region: given(words, 'region', 'nyc3'),
    extra: Object.fromEntries(words.list('set').map(attribute)),
  };
}

function idOf(image: string): number {
  const id = Number(image);
  // It would be the id of another image.
  if (!Number.isSafeInteger(id))
    throw usage(`--image is no id of an image: ${image}`, '`--image` takes a slug as well');
  return id;
}

function attribute(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(at, 0));
  const reserved = ['name', 'names', 'size', 'image', 'region'];
  const json = parseJson(text.slice(at + 1));
  if (!/^[a-z][a-z0-9_]*$/.test(key) || !json.ok)
    throw usage(
      '--set is not KEY=JSON',
      'as in `--set tags=\'["web"]\'` or `--set ipv6=true`; text needs its quotes: `--set user_data=\'"…"\'`',
    );
  if (reserved.includes(key))
    throw usage(`--set cannot give ${key}`, key.startsWith('name') ? 'names are arguments' : `use --${key}`);
  const exact = parseExactJson(text.slice(at + 1));
  const changed = exact.ok ? firstChanged(exact.value) : undefined;
  if (changed !== undefined)
    throw usage(
      `--set ${key} has a number that would not be sent as it is: ${changed}`,
      'write it as text, in quotes, if the server takes that',
    );
  return [key, json.value];
}

/** A whole number of which a double is another one, or a number that is too large to be one. */
function firstChanged(value: unknown): string | undefined {
  if (isExact(value)) {
    const [text, number] = [String(value), Number(value)];
    return !Number.isFinite(number) || (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) ? text : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = firstChanged(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
