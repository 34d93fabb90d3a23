import { usage } from '../errors.ts';
import type { Words } from './command.ts';

/** What was typed for an option; a variable that a shell never set is none, and is found before anything is asked for. */
export function given(words: Words, option: string, example: string): string | undefined {
  const text = words.text(option);
  if (text?.trim() === '') throw usage(`--${option} is empty`, `give it a value, as in \`--${option} ${example}\``);
  return text;
}
