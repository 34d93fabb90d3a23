import type { OptionSpec, ParsedArgs } from './command.ts';

/** What was typed, option by option, in order; a flag counts as one empty text. */
export type OptionOccurrences = ReadonlyMap<string, readonly string[]>;

/** The words of one set of options; asking for an option that is not in the set is a mistake in the program. */
export function parseArgs(
  args: readonly string[],
  options: readonly OptionSpec[],
  given: OptionOccurrences,
): ParsedArgs {
  const specs = new Map(options.map((option) => [option.name, option]));
  const valuesOf = (name: string): readonly string[] => {
    const spec = specs.get(name);
    if (spec === undefined) throw new Error(`option --${name} is not declared by this command`);
    const values = given.get(name) ?? [];
    return spec.multiple === 'list' ? values.flatMap(splitList) : values;
  };
  return {
    positionals: args,
    value: (option) => valuesOf(option).at(-1),
    values: valuesOf,
    has: (option) => valuesOf(option).length > 0,
  };
}

/** `a,b` is two values, `web-{a,b}` is one: a comma inside braces belongs to the value. */
export function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{' && text.includes('}', at)) depth += 1;
    else if (text[at] === '}') depth = Math.max(0, depth - 1);
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}
