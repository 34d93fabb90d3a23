import type { OptionSpec, ParsedArgs } from './command.ts';

/** The values of each option in order of appearance; a flag has an empty string as its value. */
export type OptionOccurrences = ReadonlyMap<string, readonly string[]>;

/**
 * Provides typed access to the parsed command-line arguments. Reading an option that is not in `options` is a bug in the
 * program and throws.
 */
export function createParsedArgs(
  args: readonly string[],
  options: readonly OptionSpec[],
  occurrences: OptionOccurrences,
): ParsedArgs {
  const specs = new Map(options.map((option) => [option.name, option]));
  const valuesOf = (name: string): readonly string[] => {
    const spec = specs.get(name);
    if (spec === undefined) throw new Error(`option --${name} is not declared by this command`);
    const values = occurrences.get(name) ?? [];
    return spec.multiple === 'list' ? values.flatMap(splitCommaSeparatedValues) : values;
  };
  return {
    positionals: args,
    value: (option) => valuesOf(option).at(-1),
    values: valuesOf,
    has: (option) => valuesOf(option).length > 0,
  };
}

/** Splits `a,b` into two values but keeps `web-{a,b}` as one value, because a comma inside braces is part of the value. */
export function splitCommaSeparatedValues(text: string): readonly string[] {
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
