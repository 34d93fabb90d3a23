import type { CommandSpec, OptionSpec } from './command.ts';

/** Formats the synopsis of a command: `cloudctl droplets create [NAME...] [OPTIONS]`. */
export function formatSynopsis(path: string, spec: Pick<CommandSpec<never>, 'arguments' | 'options'>): string {
  const words = (spec.arguments ?? []).map(({ name, required, variadic }) => {
    const word = variadic === true ? `${name}...` : name;
    return required === true ? word : `[${word}]`;
  });
  return [path, ...words, '[OPTIONS]'].join(' ');
}

/** Formats an option term such as `-o, --output FORMAT`; an option without a short form is indented so that the names align. */
export function formatOptionTerm({ name, short, valueName: value }: OptionSpec): string {
  const start = short === undefined ? '    ' : `-${short}, `;
  return `${start}--${name}${value === undefined ? '' : ` ${value}`}`;
}
