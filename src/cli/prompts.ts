import { usageError } from '../errors.ts';
import { Secret } from '../secret.ts';
import type { PromptStreams } from './prompt-streams.ts';
import { untilCancelled, withoutColor } from './prompt-streams.ts';
import { sanitizeLines } from './sanitize.ts';

export interface PromptOptions {
  readonly streams: PromptStreams;
  /** `--no-input`. */
  readonly noInput: boolean;
  /** `--yes`: every confirmation is given. */
  readonly yes: boolean;
  readonly color: boolean;
  /** Called before a prompt is drawn, for whatever else draws on the terminal to make room. */
  readonly before?: () => Promise<void>;
}

/** What is asked, and how a script gives it instead. */
export interface PromptQuestion {
  /** What is missing when it is not given: `client ID`. */
  readonly name: string;
  /** `--client-id` */
  readonly option?: string;
  /** `CLOUDCTL_CLIENT_ID` */
  readonly variable?: string;
  readonly message: string;
  /** Takes the prompt away, which then throws `cancelled`. */
  readonly signal?: AbortSignal;
}

export interface TextQuestion extends PromptQuestion {
  readonly default?: string;
  /** True, or what is wrong. */
  readonly validate?: (value: string) => true | string;
}

export interface ChoiceQuestion<V> extends PromptQuestion {
  readonly choices: readonly PromptChoice<V>[];
  readonly default?: V;
}

export interface PromptChoice<V> {
  readonly name: string;
  readonly value: V;
}

export interface ConfirmQuestion {
  readonly message: string;
  readonly default?: boolean;
  /** What confirms without a terminal; `--yes` when absent. */
  readonly option?: string;
  readonly signal?: AbortSignal;
}

export interface Prompts {
  /** Whether anybody can be asked. */
  readonly interactive: boolean;
  ask(question: TextQuestion): Promise<string>;
  /** The same, unseen. */
  askSecret(question: TextQuestion): Promise<Secret>;
  choose<V>(question: ChoiceQuestion<V>): Promise<V>;
  confirm(confirmation: ConfirmQuestion): Promise<boolean>;
}

/**
 * Asks on the terminal. Without one, and with `--no-input`, a question is a usage error that names what to give instead.
 * Ctrl-C, Ctrl-D and the end of the input are CliError `cancelled`.
 */
export function createPrompts({ streams, noInput, yes, color, before }: PromptOptions): Prompts {
  const interactive = streams.input.isTTY === true && streams.output.isTTY === true && !noInput;
  const reason = noInput ? '--no-input was given' : 'there is no terminal to ask on';

  async function put<V>(question: PromptQuestion, details: InquirerDetails): Promise<V> {
    if (!interactive) throw missingAnswerError(question, reason);
    return draw(question.message, question.signal, details);
  }

  async function draw<V>(message: string, signal: AbortSignal | undefined, details: InquirerDetails): Promise<V> {
    await before?.();
    const { createPromptModule } = await import('inquirer');
    const output = color ? streams.output : withoutColor(streams.output);
    return untilCancelled(streams.input, signal, async (left) => {
      const prompt = createPromptModule({ input: streams.input, output, signal: left });
      const { value } = await prompt<{ value: V }>({ ...details, name: 'value', message: sanitizeLines(message) });
      return value;
    });
  }

  return {
    interactive,
    ask: (question) => put(question, { type: 'input', ...textQuestionDetails(question) }),
    async askSecret(question) {
      const hidden = { type: 'password', mask: false, toggleMask: false };
      return new Secret(await put(question, { ...hidden, ...textQuestionDetails(question) }));
    },
    choose: (question) => {
      const choices = question.choices.map(({ name, value }) => ({ name: sanitizeLines(name), value }));
      return put(question, { type: 'select', choices, ...defaultDetails(question.default) });
    },
    async confirm({ message, signal, default: preset = false, option = '--yes' }) {
      if (yes) return true;
      if (!interactive) throw usageError(`cannot ask "${message}": ${reason}`, `confirm with \`${option}\``);
      return draw(message, signal, { type: 'confirm', default: preset });
    },
  };
}

/** What inquirer wants to know beyond the message. */
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
  return usageError(`missing ${name}: ${reason}`, ways.length === 0 ? 'run it in a terminal' : ways.join(' or '));
}
