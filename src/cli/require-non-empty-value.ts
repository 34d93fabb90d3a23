import { usageError } from '../base/errors.ts';
import type { ParsedArgs } from './command.ts';

/**
 * The value of an option, or undefined if the option is absent. Throws a usage error for an empty value, which results from an
 * unset shell variable.
 */
export function requireNonEmptyValue(args: ParsedArgs, option: string, example: string): string | undefined {
  const text = args.value(option);
  if (text?.trim() === '') throw usageError(`--${option} is empty`, `pass a value, such as \`--${option} ${example}\``);
  return text;
}
