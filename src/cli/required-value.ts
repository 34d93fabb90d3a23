import { usageError } from '../errors.ts';
import type { ParsedArgs } from './command.ts';

/** What was typed for an option; a variable that a shell never set is none, and is found before anything is asked for. */
export function requireNonEmptyValue(words: ParsedArgs, option: string, example: string): string | undefined {
  const text = words.value(option);
  if (text?.trim() === '')
    throw usageError(`--${option} is empty`, `give it a value, as in \`--${option} ${example}\``);
  return text;
}
