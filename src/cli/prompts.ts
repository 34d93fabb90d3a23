import { usage } from '../errors.ts';
import { Secret } from '../secret.ts';
import { cleanLines } from './sanitize.ts';
import type { PromptStreams } from './terminal.ts';
import { colorless, untilLeft } from './terminal.ts';

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
export interface Question {
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

export interface TextQuestion extends Question {
  readonly default?: string;
  /** True, or what is wrong. */
  readonly validate?: (value: string) => true | string;
}

export interface ChoiceQuestion<V> extends Question {
  readonly choices: readonly Choice<V>[];
  readonly default?: V;
}

export interface Choice<V> {
  readonly name: string;
  readonly value: V;
}

export interface Confirmation {
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
  confirm(confirmation: Confirmation): Promise<boolean>;
}

/**
 * Asks on the terminal. Without one, and with `--no-input`, a question is a usage error that names what to give instead.
 * Ctrl-C, Ctrl-D and the end of the input are CliError `cancelled`.
 */
export function createPrompts({ streams, noInput, yes, color, before }: PromptOptions): Prompts {
  const interactive = streams.input.isTTY === true && streams.output.isTTY === true && !noInput;
  const reason = noInput ? '--no-input was given' : 'there is no terminal to ask on';

  async function put<V>(question: Question, details: Details): Promise<V> {
    if (!interactive) throw missing(question, reason);
    return draw(question.message, question.signal, details);
  }

  async function draw<V>(message: string, signal: AbortSignal | undefined, details: Details): Promise<V> {
    await before?.();
    const { createPromptModule } = await import('inquirer');
    const output = color ? streams.output : colorless(streams.output);
    return untilLeft(streams.input, signal, async (left) => {
      const prompt = createPromptModule({ input: streams.input, output, signal: left });
      const { value } = await prompt<{ value: V }>({ ...details, name: 'value', message: cleanLines(message) });
      return value;
    });
  }

  return {
    interactive,
    ask: (question) => put(question, { type: 'input', ...valueDetails(question) }),
    async askSecret(question) {
      const hidden = { type: 'password', mask: false, toggleMask: false };
      return new Secret(await put(question, { ...hidden, ...valueDetails(question) }));
    },
    choose: (question) => {
      const choices = question.choices.map(({ name, value }) => ({ name: cleanLines(name), value }));
      return put(question, { type: 'select', choices, ...presetOf(question.default) });
    },
    async confirm({ message, signal, default: preset = false, option = '--yes' }) {
      if (yes) return true;
      if (!interactive) throw usage(`cannot ask "${message}": ${reason}`, `confirm with \`${option}\``);
      return draw(message, signal, { type: 'confirm', default: preset });
    },
  };
}

/** What inquirer wants to know beyond the message. */
interface Details {
  readonly type: string;
  readonly default?: unknown;
  readonly choices?: readonly unknown[];
  readonly validate?: (value: string) => true | string;
}

function valueDetails({ default: preset, validate }: TextQuestion): Omit<Details, 'type'> {
  return { ...presetOf(preset), ...(validate === undefined ? {} : { validate }) };
}

function presetOf(preset: unknown): Pick<Details, 'default'> {
  return preset === undefined ? {} : { default: preset };
}

function missing({ name, option, variable }: Question, reason: string) {
  const ways = [
    ...(option === undefined ? [] : [`pass \`${option}\``]),
    ...(variable === undefined ? [] : [`set ${variable}`]),
  ];
  return usage(`missing ${name}: ${reason}`, ways.length === 0 ? 'run it in a terminal' : ways.join(' or '));
}
