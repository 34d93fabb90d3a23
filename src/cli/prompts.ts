import { usageError } from '../base/errors.ts';
import { redactMessage } from '../base/redact.ts';
import { sanitizeLine, sanitizeLines } from '../base/sanitize.ts';
import { Secret } from '../base/secret.ts';
import type { PromptStreams } from './prompt-streams.ts';
import { createColorlessPromptOutput, runCancellablePrompt } from './prompt-streams.ts';
import { wrapForTerminal } from './wrap-for-terminal.ts';

export interface CreatePromptsOptions {
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
export interface PromptQuestion {
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

export interface TextQuestion extends PromptQuestion {
  readonly default?: string;
  /** Returns true for a valid value, or the error message to show. */
  readonly validate?: (value: string) => true | string;
}

export interface PromptQuestionWithChoices<V> extends PromptQuestion {
  readonly choices: readonly PromptChoice<V>[];
  readonly default?: V;
}

export interface PromptChoice<V> {
  readonly name: string;
  readonly value: V;
}

export interface YesNoQuestion {
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
export function createPrompts({ streams, isTerminal, noInput, yes, color, before }: CreatePromptsOptions): Prompts {
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
    const output = color ? screen : createColorlessPromptOutput(screen);
    const lines = await wrapPromptMessage(redactMessage(sanitizeLines(message)), screen.columns);
    return runCancellablePrompt(input, signal, async (left) => {
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
