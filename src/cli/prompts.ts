import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { CliError, usageError } from '../base/errors.ts';
import { redactMessage } from '../base/redact.ts';
import { sanitizeLine, sanitizeLines } from '../base/sanitize.ts';
import { Secret } from '../base/secret.ts';
import { wrapForTerminal } from './text.ts';

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
export async function runPrompt<V>(
  input: Readable,
  signal: AbortSignal | undefined,
  work: (left: AbortSignal) => Promise<V>,
): Promise<V> {
  if (signal?.aborted === true || input.readableEnded || input.destroyed) throw cancelledError();
  const controller = new AbortController();
  const leave = () => controller.abort();
  let [wasStopped, hasEnded] = [false, false];
  // readline pauses the input when Ctrl-Z stopped the program and it continues, and leaves it to its owner to read on.
  const onContinue = () => setImmediate(() => hasEnded || input.resume());
  // On an empty line readline treats Ctrl-D as the end of the input and pauses; on other lines Ctrl-D deletes a character.
  const onKey = (_: unknown, key: { readonly ctrl?: boolean; readonly name?: string } | undefined) => {
    // After Ctrl-Z it takes the input for paused, and does not pause it.
    if (key?.ctrl === true && key.name === 'd')
      setImmediate(() => (input.isPaused() || (wasStopped && isCooked(input))) && leave());
    if (key?.ctrl !== true || key.name !== 'z') return;
    wasStopped = true;
    input.once('pause', onContinue);
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
    hasEnded = true;
    input.off('keypress', onKey);
    input.off('pause', onContinue);
    input.off('end', leave);
    input.off('close', leave);
    // readline takes the input for paused since then, and does not pause it at its end.
    if (wasStopped) input.pause();
    signal?.removeEventListener('abort', leave);
  }
}

function isCooked(input: Readable): boolean {
  return 'isRaw' in input && input.isRaw === false;
}

/** Wraps a terminal stream so that prompts have no colour, because inquirer has no option that disables colour. */
export function colorlessOutput(output: PromptStreams['output']): PromptStreams['output'] {
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

export interface PromptOptions {
  /** Returns the streams of the prompts. Called only when a prompt is drawn, because creating a stream takes long. */
  readonly streams: () => PromptStreams;
  /** Whether input and output are terminals. */
  readonly isTerminal: () => boolean;
  /** `--no-input`. */
  readonly noInput: boolean;
  /** With `--yes`, every confirmation is answered with yes. */
  readonly yes: boolean;
  readonly color: boolean;
  /** Called before a prompt is drawn, to stop other output to the terminal. */
  readonly before?: () => Promise<void>;
}

/** A prompt question, and the option or variable that replaces it in a script. */
interface PromptQuestion {
  /** The name of the requested value in errors, such as `client ID`. */
  readonly name: string;
  /** `--client-id` */
  readonly option?: string;
  /** `CLOUDCTL_CLIENT_ID` */
  readonly variable?: string;
  readonly message: string;
  /** Aborting this signal removes the prompt, which then throws `cancelled`. */
  readonly signal?: AbortSignal;
}

interface TextQuestion extends PromptQuestion {
  readonly default?: string;
  /** Returns true for a valid value, or the error message to show. */
  readonly validate?: (value: string) => true | string;
}

interface PromptQuestionWithChoices<V> extends PromptQuestion {
  readonly choices: readonly PromptChoice<V>[];
  readonly default?: V;
}

interface PromptChoice<V> {
  readonly name: string;
  readonly value: V;
}

interface YesNoQuestion {
  readonly message: string;
  readonly default?: boolean;
  /** The option that confirms without a terminal (default: `--yes`). */
  readonly option?: string;
  readonly signal?: AbortSignal;
}

export interface Prompts {
  /** Whether prompts can be shown: both streams are a terminal and `--no-input` is not set. */
  readonly interactive: boolean;
  ask(question: TextQuestion): Promise<string>;
  /** Prompts for a text with hidden input. */
  askSecret(question: TextQuestion): Promise<Secret>;
  choose<V>(question: PromptQuestionWithChoices<V>): Promise<V>;
  confirm(confirmation: YesNoQuestion): Promise<boolean>;
}

/**
 * Shows prompts on the terminal. Without a terminal, and with `--no-input`, a prompt throws a usage error that names the option
 * or variable to use instead. Ctrl-C, Ctrl-D and the end of the input throw CliError `cancelled`.
 */
export function createPrompts({ streams, isTerminal, noInput, yes, color, before }: PromptOptions): Prompts {
  const isInteractive = (): boolean => !noInput && isTerminal();
  const reason = noInput ? '--no-input was given' : 'standard input or standard error is not a terminal';

  async function put<V>(question: PromptQuestion, details: InquirerDetails): Promise<V> {
    if (!isInteractive()) throw missingAnswerError(question, reason);
    return draw(question.message, question.signal, details);
  }

  async function draw<V>(message: string, signal: AbortSignal | undefined, details: InquirerDetails): Promise<V> {
    await before?.();
    const { createPromptModule } = await import('inquirer');
    const { input, output: screen } = streams();
    const output = color ? screen : colorlessOutput(screen);
    const lines = await wrapPromptMessage(redactMessage(sanitizeLines(message)), screen.columns);
    return runPrompt(input, signal, async (left) => {
      const prompt = createPromptModule({ input, output, signal: left });
      const { value } = await prompt<{ value: V }>({ ...details, name: 'value', message: lines });
      return value;
    });
  }

  return {
    get interactive() {
      return isInteractive();
    },
    ask: (question) => put(question, { type: 'input', ...textQuestionDetails(question) }),
    async askSecret(question) {
      const hidden = { type: 'password', mask: false, toggleMask: false };
      return new Secret(await put(question, { ...hidden, ...textQuestionDetails(question) }));
    },
    choose: (question) => {
      const choices = question.choices.map(({ name, value }) => ({ name: redactMessage(sanitizeLine(name)), value }));
      return put(question, { type: 'select', choices, ...defaultDetails(question.default) });
    },
    async confirm({ message, signal, default: preset = false, option = '--yes' }) {
      if (yes) return true;
      if (!isInteractive()) throw usageError(`cannot prompt "${message}": ${reason}`, `confirm with \`${option}\``);
      return draw(message, signal, { type: 'confirm', default: preset });
    },
  };
}

/** Inquirer breaks a long message inside words. The message stands between `? ` and `(y/N)`. */
async function wrapPromptMessage(message: string, columns: number | undefined): Promise<string> {
  const [mark, answers] = ['? ', ' (y/N)'];
  const lines = await wrapForTerminal(
    `${mark}${message}`,
    columns === undefined ? undefined : columns - answers.length,
  );
  return lines.slice(mark.length);
}

/** Prompt options that inquirer needs in addition to the message. */
interface InquirerDetails {
  readonly type: string;
  readonly default?: unknown;
  readonly choices?: readonly unknown[];
  readonly validate?: (value: string) => true | string;
}

function textQuestionDetails({ default: preset, validate }: TextQuestion): Omit<InquirerDetails, 'type'> {
  return { ...defaultDetails(preset), ...(validate === undefined ? {} : { validate }) };
}

function defaultDetails(preset: unknown): Pick<InquirerDetails, 'default'> {
  return preset === undefined ? {} : { default: preset };
}

function missingAnswerError({ name, option, variable }: PromptQuestion, reason: string) {
  const ways = [
    ...(option === undefined ? [] : [`pass \`${option}\``]),
    ...(variable === undefined ? [] : [`set ${variable}`]),
  ];
  return usageError(
    `missing ${name}: ${reason}`,
    ways.length === 0 ? 'run the command in a terminal' : ways.join(' or '),
  );
}

interface LineInputStreams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Called for Ctrl-C, which sends no signal when the terminal is in raw mode. */
  readonly onInterrupt: () => void;
}

/**
 * Yields the lines that the user types or pastes, until the signal is aborted. Uses the raw mode of a terminal, because the
 * normal mode cuts lines at 1,024 bytes on some systems, and a redirect URL is longer.
 */
export async function* readLines(streams: LineInputStreams, signal: AbortSignal): AsyncGenerator<string> {
  if (signal.aborted) return;
  const terminal = streams.input.isTTY === true && streams.output.isTTY === true;
  const lines = createInterface({
    input: streams.input,
    terminal,
    historySize: 0,
    prompt: '',
    ...(terminal ? { output: streams.output } : {}),
  });
  const close = (): void => lines.close();
  lines.on('SIGINT', streams.onInterrupt);
  // readline pauses the input when the program continues after Ctrl-Z.
  lines.on('SIGCONT', () => lines.resume());
  signal.addEventListener('abort', close, { once: true });
  try {
    yield* lines;
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    // Pauses the input, because a stream that is still read keeps the process running.
    streams.input.pause();
  }
}
