import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { CliError } from '../base/errors.ts';

/** The input and output streams of terminal prompts: keys are read in raw mode, and prompts are drawn on stderr. */
export interface PromptStreams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/**
 * Runs a prompt until the user answers it, or until Ctrl-C, Ctrl-D, the end of the input or the signal cancels it. The prompt
 * library inquirer handles only Ctrl-C and its signal, and would wait forever after the end of the input. Throws CliError
 * `cancelled`.
 */
export async function runCancellablePrompt<V>(
  input: Readable,
  signal: AbortSignal | undefined,
  work: (left: AbortSignal) => Promise<V>,
): Promise<V> {
  if (signal?.aborted === true || input.readableEnded || input.destroyed) throw cancelledError();
  const controller = new AbortController();
  const leave = () => controller.abort();
  // On an empty line readline treats Ctrl-D as the end of the input and pauses; on other lines Ctrl-D deletes a character.
  const onKey = (_: unknown, key: { readonly ctrl?: boolean; readonly name?: string } | undefined) => {
    if (key?.ctrl === true && key.name === 'd') setImmediate(() => input.isPaused() && leave());
  };
  input.on('keypress', onKey);
  input.once('end', leave);
  input.once('close', leave);
  signal?.addEventListener('abort', leave);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw error instanceof Error && cancelErrorNames.has(error.name) ? cancelledError() : error;
  } finally {
    input.off('keypress', onKey);
    input.off('end', leave);
    input.off('close', leave);
    signal?.removeEventListener('abort', leave);
  }
}

/** Wraps a terminal stream so that prompts have no colour, because inquirer has no option that disables colour. */
export function createColorlessPromptOutput(output: PromptStreams['output']): PromptStreams['output'] {
  const plain = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      output.write(String(chunk).replace(/\u001b\[[\d;]*m/g, ''), done);
    },
  });
  return Object.assign(plain, { isTTY: true, ...(output.columns === undefined ? {} : { columns: output.columns }) });
}

const cancelErrorNames: ReadonlySet<string> = new Set(['ExitPromptError', 'AbortPromptError', 'CancelPromptError']);

function cancelledError(): CliError {
  return new CliError('cancelled', 'cancelled');
}
