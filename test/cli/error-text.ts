import { CliError } from '../../src/base/errors.ts';

/** The code and the three parts of an error, as golden files keep them. */
export function errorText(error: unknown): string {
  if (!(error instanceof CliError)) throw error ?? new Error('there was no error');
  const { code, exitCode, message, detail, hint } = error;
  return [
    `${code} (exit ${exitCode})`,
    `error: ${message}`,
    ...(detail === undefined ? [] : [`detail: ${detail}`]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ].join('\n');
}

/** The same of what a function throws. */
export function thrownText(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return errorText(error);
  }
  throw new Error('nothing was thrown');
}
