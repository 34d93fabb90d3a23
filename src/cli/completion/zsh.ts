import type { ArgumentSpec, OptionSpec } from '../command.ts';
import type { Level } from './levels.ts';
import { everywhere, offerOf, profilesCommand } from './levels.ts';

/** For zsh 5 and later, on its own completion system. */
export function zshScript(program: string, levels: readonly Level[]): string {
  const name = `_${program.replace(/\W/g, '_')}`;
  return `#compdef ${program}
# zsh completion for ${program}
# In this shell: source <(${program} completion zsh)
# In every one: ${program} completion zsh > "\${fpath[1]}/_${program}"

${name}_profiles() {
  local -a profiles
  profiles=(\${(f)"$(${profilesCommand(program)} 2>/dev/null)"})
  compadd -a profiles
}

${levels
  .slice(1)
  .map((level) => levelFunction(name, level))
  .join('\n\n')}

${levels
  .slice(0, 1)
  .map((level) => levelFunction(name, level))
  .join('\n\n')}

if [[ \${funcstack[1]} == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program}
fi
`;
}

function levelFunction(program: string, level: Level): string {
  const name = functionName(program, level.path);
  const options = [...everywhere, ...level.options].flatMap((option) => optionSpecs(program, option));
  return level.commands.length > 0
    ? branchFunction(program, name, level, options)
    : leafFunction(program, name, level, options);
}

function leafFunction(program: string, name: string, { places }: Level, options: readonly string[]): string {
  const words = places.map((place, at) => {
    const position = place.variadic === true ? '*' : `${at + 1}`;
    return quoted(`${position}:${escaped(place.name)}:${action(program, place)}`);
  });
  return `${name}() {\n  _arguments -s -S${lines([...options, ...words])}\n}`;
}

function branchFunction(program: string, name: string, level: Level, options: readonly string[]): string {
  const commands = level.commands.map((command) => quoted(`${command.name}:${command.summary.replaceAll(':', '\\:')}`));
  const base = level.path === '/' ? '' : level.path;
  const calls = level.commands.map(
    (command) => `        ${command.name}) ${functionName(program, `${base}/${command.name}`)} && ret=0 ;;`,
  );
  return `${name}() {
  local curcontext=$curcontext state line ret=1
  local -a commands
  typeset -A opt_args
  _arguments -s -S -C${lines([...options, "'1: :->command'", "'*:: :->words'"])} && ret=0
  case $state in
    command)
      commands=(${lines(commands)}
      )
      _describe -t commands command commands && ret=0
      ;;
    words)
      curcontext=\${curcontext%:*}-$words[1]:
      case $words[1] in
${calls.join('\n')}
      esac
      ;;
  esac
  return ret
}`;
}

function functionName(program: string, path: string): string {
  return path === '/' ? program : program + path.replace(/\W/g, '_');
}

function optionSpecs(program: string, option: OptionSpec): readonly string[] {
  const { name, short, valueName: value, multiple: many, description } = option;
  const text = `[${escaped(description)}]`;
  const rest = value === undefined ? '' : `:${escaped(value)}:${action(program, option)}`;
  const long = `--${name}${value === undefined ? '' : '='}${text}${rest}`;
  if (many !== undefined) return [quoted(`*${long}`)];
  if (short === undefined) return [quoted(long)];
  const both = `(-${short} --${name})`;
  return [quoted(`${both}-${short}${value === undefined ? '' : '+'}${text}${rest}`), quoted(`${both}${long}`)];
}

function action(program: string, spec: Pick<OptionSpec | ArgumentSpec, 'choices' | 'completes'>): string {
  const offer = offerOf(spec);
  switch (offer.kind) {
    case 'words':
      return `(${offer.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'profile':
      return `${program}_profiles`;
    case 'nothing':
      return ' ';
    default:
      return offer satisfies never;
  }
}

function escaped(text: string): string {
  return text.replace(/[\\:[\]]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function lines(words: readonly string[]): string {
  return words.map((word) => ` \\\n    ${word}`).join('');
}
