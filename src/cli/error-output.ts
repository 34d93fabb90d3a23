import { buildErrorJson, CliError } from '../base/errors.ts';
import { indentLines, sanitizeLine, sanitizeLines } from '../base/sanitize.ts';
import { isStorageFault, storageError } from '../base/storage-error.ts';
import type { OutputSink, ProcessEnvironment } from '../platform/host.ts';
import { createStyles } from './color.ts';
import { wrapForTerminal } from './text.ts';

interface ErrorOutputStyle {
  readonly stderr: OutputSink;
  /** Whether the error is printed as one JSON object instead of three lines of text. */
  readonly json: boolean;
  readonly color: boolean;
}

/** Prints `error:`, `detail:` and `hint:` to stderr, or one JSON object (docs/errors.md). */
export async function printError(error: CliError, { stderr, json, color }: ErrorOutputStyle): Promise<void> {
  if (json) {
    await stderr.write(`${JSON.stringify(buildErrorJson(sanitizeError(error)))}\n`);
    return;
  }
  const { red, dim, cyan } = await createStyles(color);
  const { message, detail, hint } = sanitizeError(error);
  const columns = stderr.isTTY ? stderr.columns : undefined;
  const parts = [
    await errorPart('error:', red, message, columns),
    await errorPart('detail:', dim, detail, columns),
    await errorPart('hint:', cyan, hint, columns),
  ];
  await stderr.write(parts.join(''));
}

/**
 * Converts any thrown value to an error for the user. A thrown value that is neither a CliError nor an error of the file system is
 * a bug in the program, so it gets the error code `internal`.
 */
export function toCliError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown;
  if (isStorageFault(thrown) && thrown instanceof Error) {
    return storageError(`could not use a file: ${sanitizeLine(thrown.message, 1000)}`, thrown, {
      elsewhere: 'set CLOUDCTL_STATE_DIR and CLOUDCTL_CONFIG_DIR to folders that you can write to',
    });
  }
  const reason =
    thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `thrown value of type ${typeof thrown}`;
  return new CliError('internal', 'internal error', {
    detail: sanitizeLine(redactSuspectedSecrets(sanitizeLine(reason, 100_000))),
    hint: 'report this bug with the command (without its secrets) and the output of `cloudctl doctor`',
    cause: thrown,
  });
}

/**
 * Whether errors are printed as JSON, decided from arguments and environment alone, for errors before the settings are known.
 * On a terminal `--json` without fields asks which there are, so that its error is for a person.
 */
export function writesJson(argv: readonly string[], env: ProcessEnvironment, isTerminal = false): boolean {
  let format = env.CLOUDCTL_OUTPUT;
  let isJson = false;
  for (const [at, word] of argv.entries()) {
    if (word === '--') break;
    if (word === '-o' || word === '--output') format = argv[at + 1];
    else if (/^--json(=|$)/.test(word))
      isJson ||= !isTerminal || /^--json=\S|^--json [^-]/.test(`${word} ${argv[at + 1] ?? '-'}`);
    else format = /^(?:--output=|-o)(.+)$/.exec(word)?.[1] ?? format;
  }
  return isJson || format === 'json' || format === 'ndjson';
}

async function errorPart(
  label: string,
  paint: (text: string) => string,
  text: string | undefined,
  columns: number | undefined,
): Promise<string> {
  if (text === undefined) return '';
  const lines = await wrapForTerminal(`${label} ${indentLines(text)}`, columns);
  return `${paint(label)}${lines.slice(label.length)}\n`;
}

function sanitizeError(error: CliError): CliError {
  const { code, detail, hint, status, requestId, exitCode } = error;
  return new CliError(code, sanitizeLine(error.message, 1000), {
    detail: detail === undefined ? undefined : sanitizeLines(detail),
    hint: hint === undefined ? undefined : sanitizeLines(hint),
    status,
    requestId: requestId === undefined ? undefined : sanitizeLine(requestId, 100),
    exitCode,
  });
}

// The message of an unexpected error is redacted: a library may quote a URL with its query, a header or a body.
function redactSuspectedSecrets(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1')
    .replace(/[?#][^\s"'<>]+/g, '')
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 [secret]')
    .replace(/[\w+=-]{16,}/g, (word) => (/\d/.test(word) && /[a-z]/i.test(word) ? '[secret]' : word));
}
