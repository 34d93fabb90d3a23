import { usageError } from '../../base/errors.ts';
import { parseProgram } from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import { runPrinting } from '../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';

/** Maximum bytes that a password command may print. */
const maxPasswordBytes = 4096;
/** Time limit of a password command in milliseconds. */
const passwordCommandLimit = 10_000;

/** The program and its arguments; undefined if no command is given. Throws a CliError (usage). */
export function parsePasswordCommand(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const words = parseProgram(text);
  if (words === undefined)
    throw usageError(
      'the password command is not a JSON array of the program and its arguments',
      'write it as in `["pass","show","db1"]`',
    );
  return words;
}

export interface RunPasswordCommandOptions {
  /** The source that the password is for; the command receives its properties as environment variables. */
  readonly source: {
    readonly name: string;
    readonly host: string;
    readonly port: number;
    readonly dbname: string;
    readonly username: string;
  };
  readonly env: ProcessEnvironment;
  readonly signal: AbortSignal;
  /** Time limit of the password command in milliseconds (default: 10 s). */
  readonly limit?: number;
}

/** The password; or the reason why there is none, as a clause without any output of the command. */
export type PasswordCommandResult = { readonly password: Secret } | { readonly failure: string };

/**
 * Runs the command without a shell and without input. The password is its standard output without the line break at the end.
 */
export async function runPasswordCommand(
  words: readonly string[],
  { source, env, signal, limit = passwordCommandLimit }: RunPasswordCommandOptions,
): Promise<PasswordCommandResult> {
  const unsafe = describeUnsafePart(source);
  if (unsafe !== undefined) return { failure: `${unsafe} has a control character, so the command was not run` };
  const variables = {
    CLOUDCTL_SOURCE_NAME: source.name,
    CLOUDCTL_SOURCE_HOST: source.host,
    CLOUDCTL_SOURCE_PORT: String(source.port),
    CLOUDCTL_SOURCE_DBNAME: source.dbname,
    CLOUDCTL_SOURCE_USER: source.username,
  };
  const { failure, stdout } = await runPrinting(words, {
    env,
    given: variables,
    signal,
    limit,
    maxOutputBytes: maxPasswordBytes,
  });
  if (failure !== undefined) return { failure };
  const text = stdout.replace(/\r?\n$/, '');
  if (text === '') return { failure: 'it printed nothing' };
  // U+FFFD stands for bytes that are not UTF-8.
  if (/[\p{Cc}\uFFFD]/u.test(text)) return { failure: 'it printed more than one line, or bytes that are no text' };
  return { password: new Secret(text) };
}

/**
 * A name with a line break would be a second line to a program that passes its variables on, such as a credential
 * helper; one with ESC would be written to a terminal. Returns which part it is.
 */
function describeUnsafePart({ name, host, dbname, username }: RunPasswordCommandOptions['source']): string | undefined {
  const parts = { 'the name of the source': name, 'the host': host, 'the database': dbname, 'the user': username };
  return Object.entries(parts).find(([, text]) => /[\p{Cc}\u2028\u2029]/u.test(text))?.[0];
}
