import { CliError, errorJson } from '../errors.ts';
import type { Environment, Sink } from '../platform/host.ts';
import { paint } from './color.ts';
import { clean, cleanLines } from './sanitize.ts';

export interface ErrorStyle {
  readonly stderr: Sink;
  /** One JSON object instead of the three parts. */
  readonly json: boolean;
  readonly color: boolean;
}

/** `error:`, `detail:` and `hint:` on stderr, as PostgreSQL has them, or the error shape of the contract in JSON. */
export async function printError(error: CliError, { stderr, json, color }: ErrorStyle): Promise<void> {
  if (json) {
    await stderr.write(`${JSON.stringify(errorJson(cleaned(error)))}\n`);
    return;
  }
  const { red, dim, cyan } = await paint(color);
  const { message, detail, hint } = cleaned(error);
  const parts = [part(red('error:'), message), part(dim('detail:'), detail), part(cyan('hint:'), hint)];
  await stderr.write(parts.join(''));
}

/** Whatever was thrown, as an error with words for the user; what is not a CliError is a bug of the program. */
export function asCliError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown;
  const reason = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `a ${typeof thrown} was thrown`;
  return new CliError('internal', 'internal error', {
    detail: clean(withoutSecrets(clean(reason, 100_000))),
    hint: 'this is a bug; please report it with the command you typed, without its secrets, and the output of `cloudctl doctor`',
    cause: thrown,
  });
}

/** Whether errors are JSON, judged by the words and the environment alone: for errors met before anything else is known. */
export function wantsJsonErrors(argv: readonly string[], env: Environment): boolean {
  let format = env.CLOUDCTL_OUTPUT;
  for (const [at, word] of argv.entries()) {
    if (word === '--') break;
    if (word === '-o' || word === '--output') format = argv[at + 1];
    else format = /^(?:--output=|-o)(.+)$/.exec(word)?.[1] ?? format;
  }
  return format === 'json' || format === 'ndjson';
}

function part(label: string, text: string | undefined): string {
  // Further lines are set in, so that they are not taken for a part of their own.
  return text === undefined ? '' : `${label} ${text.replaceAll('\n', '\n  ')}\n`;
}

function cleaned(error: CliError): CliError {
  const { code, detail, hint, status, requestId, exitCode } = error;
  return new CliError(code, clean(error.message, 1000), {
    detail: detail === undefined ? undefined : cleanLines(detail),
    hint: hint === undefined ? undefined : cleanLines(hint),
    status,
    requestId: requestId === undefined ? undefined : clean(requestId, 100),
    exitCode,
  });
}

// A library's message may quote a URL with its query, a header or a body.
function withoutSecrets(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1')
    .replace(/[?#][^\s"'<>]+/g, '')
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 [secret]')
    .replace(/[\w+=-]{16,}/g, (word) => (/\d/.test(word) && /[a-z]/i.test(word) ? '[secret]' : word));
}
