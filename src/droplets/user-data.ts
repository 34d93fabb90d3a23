import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { usageError } from '../base/errors.ts';
import { isJsonRecord, readNumberField, readStringField } from '../base/json.ts';
import { Secret } from '../base/secret.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { readInput, type UserInput } from '../cli/user-file.ts';
import { requireValue } from '../cli/values.ts';

/**
 * The hash and size of user data, which ledgers and previews contain instead of the data, because user data can contain
 * passwords and keys.
 */
export interface UserDataDigest {
  readonly sha256: string;
  readonly bytes: number;
}

/** The user data that `--user-data-file` names. */
export interface UserData extends UserDataDigest {
  readonly text: Secret;
  /** The absolute path of the file; `-` for standard input. */
  readonly file: string;
  /** The user data and each of its lines, which are redacted in messages of the server. */
  readonly secrets: readonly Secret[];
}

export const userDataOption = {
  name: 'user-data-file',
  valueName: 'FILE',
  description: 'File with the user data of every droplet, at most 64 KiB; - reads standard input',
  completion: 'file',
} as const satisfies OptionSpec;

const maxBytes = 64 * 1024;
const example = 'cloud-config.yaml';

/**
 * Reads the file of `--user-data-file`; returns undefined without the option. Throws a usage error for a file that cannot be
 * sent as user data.
 */
export async function readUserData(input: UserInput, args: ParsedArgs): Promise<UserData | undefined> {
  const named = requireValue(args, userDataOption.name, example);
  if (named === undefined) return undefined;
  if (named === '-' && args.value('names-from') === '-')
    throw usageError(
      '--user-data-file and --names-from cannot both read standard input',
      `use a file for one of the two options, as in \`--user-data-file ${example}\``,
    );
  const what = named === '-' ? 'the user data on standard input' : `the user data in ${named}`;
  const hint = `use a cloud-init file, as in \`--user-data-file ${example}\``;
  const content = await readInput(input, named, {
    what,
    maxBytes: { bytes: maxBytes, hint },
    readError: (reason) =>
      usageError(
        `could not read the user data: ${reason}`,
        `pass a readable file, as in \`--user-data-file ${example}\``,
      ),
  });
  if (content.length === 0) throw usageError(`${what} is empty`, hint);
  const text = decodeUtf8(content);
  if (text === undefined) throw usageError(`${what} is not UTF-8 text`, hint);
  const lines = text.split('\n').map((line) => new Secret(line.trim()));
  return {
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
    text: new Secret(text),
    file: named === '-' ? named : resolve(named),
    secrets: [new Secret(text), ...lines],
  };
}

/** Throws a usage error when a resumed batch that still sends requests lacks its user data, or has other user data. */
export function requireSameUserData(
  given: UserData | undefined,
  recorded: UserDataDigest | undefined,
  isOver: boolean,
): void {
  if (given === undefined) {
    if (recorded === undefined || isOver) return;
    throw usageError(
      '--user-data-file is missing',
      `add the file that the batch was started with, as in \`--user-data-file ${example}\``,
      `the batch was started with user data of ${describeUserData(recorded)}; the ledger does not contain the user data`,
    );
  }
  if (given.sha256 === recorded?.sha256) return;
  throw usageError(
    '--user-data-file contradicts the ledger',
    recorded === undefined
      ? 'remove `--user-data-file`: the batch was started without user data'
      : 'use the file that the batch was started with',
    `the file has ${describeUserData(given)}${recorded === undefined ? '' : `; the batch was started with ${describeUserData(recorded)}`}`,
  );
}

/** Formats size and SHA-256 hash of user data for messages. */
export function describeUserData({ bytes, sha256 }: UserDataDigest): string {
  return `${bytes} bytes, SHA-256 ${sha256}`;
}

/** Decodes the digest of user data in a ledger; returns undefined for anything else. */
export function decodeUserDataDigest(json: unknown): UserDataDigest | undefined {
  if (!isJsonRecord(json)) return undefined;
  const sha256 = readStringField(json, 'sha256');
  const bytes = readNumberField(json, 'bytes');
  return sha256 === undefined || bytes === undefined ? undefined : { sha256, bytes };
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
