import type { ArgumentSpec, OptionSpec } from '../command.ts';
import type { Level } from './levels.ts';
import { everywhere, flagsOf, offerOf, profilesCommand } from './levels.ts';

/** For fish 3 and later. */
export function fishScript(program: string, levels: readonly Level[]): string {
  const name = `__${program.replace(/\W/g, '_')}`;
  return `# fish completion for ${program}
# In this shell: ${program} completion fish | source
# In every one: ${program} completion fish > ~/.config/fish/completions/${program}.fish

function ${name}_profiles
  ${profilesCommand(program)} 2>/dev/null
end

# Whether the words before the cursor lead to this command; with a number, whether so many arguments stand behind it.
function ${name}_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l path
  set -l place 0
  set -l skip no
  set -l ended no
  for word in $words
    if test $skip = yes
      set skip no
    else if test $ended = yes
      set place (math $place + 1)
    else if test "$word" = --
      set ended yes
    else if string match -q -- '-*' "$word"
      switch "$path/:$word"
        case ${valueOptions(levels)}
          set skip yes
      end
    else
      switch "$place:$path/$word"
        case ${levels
          .slice(1)
          .map(({ path }) => `0:${path}`)
          .join(' ')}
          set path "$path/$word"
        case '*'
          set place (math $place + 1)
      end
    end
  end
  test "$path/" = "$argv[1]"; and begin
    not set -q argv[2]; or test $place = $argv[2]
  end
end

complete -c ${program} -f
${everywhere.map((option) => optionLine(program, name, option)).join('\n')}

${levels.map((level) => levelLines(program, name, level)).join('\n\n')}
`;
}

function valueOptions(levels: readonly Level[]): string {
  const patterns = (options: Level['options'], path: string) =>
    options
      .filter(({ valueName: value }) => value !== undefined)
      .flatMap((option) => flagsOf(option).map((flag) => `'${path}:${flag}'`));
  return [...patterns(everywhere, '*'), ...levels.flatMap((level) => patterns(level.options, ended(level)))].join(' ');
}

function levelLines(program: string, name: string, level: Level): string {
  const path = ended(level);
  return [
    ...level.commands.map(
      (command) => `complete -c ${program} -n '${name}_at ${path} 0' -a ${command.name} -d ${quoted(command.summary)}`,
    ),
    ...level.options.map((option) => optionLine(program, name, option, `${name}_at ${path}`)),
    ...level.places.flatMap((place, at) =>
      placeLine(program, name, place, `${name}_at ${path}${place.variadic === true ? '' : ` ${at}`}`),
    ),
  ].join('\n');
}

function optionLine(program: string, name: string, option: OptionSpec, condition?: string): string {
  const words = [
    `complete -c ${program}`,
    ...(condition === undefined ? [] : [`-n '${condition}'`]),
    ...(option.short === undefined ? [] : [`-s ${option.short}`]),
    `-l ${option.name}`,
    ...(option.valueName === undefined ? [] : [valueWords(name, option)]),
    `-d ${quoted(option.description)}`,
  ];
  return words.join(' ');
}

function placeLine(program: string, name: string, place: ArgumentSpec, condition: string): readonly string[] {
  const offered = offerWords(name, place);
  return offered === '' ? [] : [`complete -c ${program} -n '${condition}' ${offered}`];
}

function valueWords(name: string, option: OptionSpec): string {
  const offered = offerWords(name, option);
  return offered.startsWith('-F') ? '-r -F' : `-x ${offered}`.trimEnd();
}

function offerWords(name: string, spec: Pick<OptionSpec, 'choices' | 'completes'>): string {
  const offer = offerOf(spec);
  switch (offer.kind) {
    case 'words':
      return `-a ${quoted(offer.words.join(' '))}`;
    case 'file':
      return '-F';
    case 'folder':
      return "-a '(__fish_complete_directories)'";
    case 'profile':
      return `-a '(${name}_profiles)'`;
    case 'nothing':
      return '';
    default:
      return offer satisfies never;
  }
}

// A path ends with a slash here, so that the program's own is not empty: fish drops empty words.
function ended({ path }: Level): string {
  return path === '/' ? path : `${path}/`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
