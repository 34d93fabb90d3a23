import type { Level, Offer } from './levels.ts';
import { everywhere, flagsOf, offerOf, profilesCommand } from './levels.ts';

/** For bash 3.2 and later; needs nothing but bash. */
export function bashScript(program: string, levels: readonly Level[]): string {
  const name = `_${program.replace(/\W/g, '_')}`;
  return `# bash completion for ${program}
# In this shell: source <(${program} completion bash)
# In every one: ${program} completion bash > ~/.local/share/bash-completion/completions/${program}

# Adds those of the words, one on a line, that begin with what was typed.
${name}_words() {
  local word
  while IFS= read -r word; do
    if [[ -n $word && $word == "$typed"* ]]; then COMPREPLY+=("$prefix$word"); fi
  done
}

${name}_files() {
  local word
  # Readline completes files best by itself; bash 3 has no compopt.
  if compopt -o default 2>/dev/null; then return; fi
  while IFS= read -r word; do
    if [[ -n $word ]]; then COMPREPLY+=("$prefix$word"); fi
  done < <(compgen "$1" -- "$typed")
}

${name}_profiles() {
  ${name}_words < <(${profilesCommand(program)} 2>/dev/null)
}

${name}() {
  local path=/ option='' ended='' place=0 at=1 word typed prefix=''
  COMPREPLY=()
  while [[ $at -lt $COMP_CWORD ]]; do
    word=\${COMP_WORDS[at]}
    at=$((at + 1))
    if [[ -n $option ]]; then
      # Bash splits --output=json at the equals sign.
      if [[ $word != = ]]; then option=''; fi
    elif [[ -n $ended ]]; then
      place=$((place + 1))
    else
      case $word in
        --) ended=1 ;;
        -*=*) ;;
        -*)
          case $path:$word in
${valueOptions(levels)}
          esac
          ;;
        *)
          case $place:\${path%/}/$word in
            ${levels
              .slice(1)
              .map(({ path }) => `0:${path}`)
              .join(' | ')}) path=\${path%/}/$word ;;
            *) place=$((place + 1)) ;;
          esac
          ;;
      esac
    fi
  done
  typed=\${COMP_WORDS[COMP_CWORD]}
  if [[ -n $option && $typed == = ]]; then typed=''; fi
  if [[ -z $option && -z $ended && $typed == --*=* ]]; then
    option=\${typed%%=*}
    prefix=$option=
    typed=\${typed#*=}
  fi
  if [[ -n $option ]]; then
    case $path:$option in
${valueOffers(name, levels)}
    esac
    return 0
  fi
  if [[ -z $ended && $typed == -* ]]; then
    ${name}_words <<'WORDS'
${everywhere.flatMap(flagsOf).join('\n')}
WORDS
    case $path in
${levels
  .filter(({ options }) => options.length > 0)
  .map(({ path, options }) => heredoc(path, name, options.flatMap(flagsOf)))
  .join('\n')}
    esac
    return 0
  fi
  if [[ -z $ended && $place == 0 ]]; then
    case $path in
${levels
  .filter(({ commands }) => commands.length > 0)
  .map(({ path, commands }) =>
    heredoc(
      path,
      name,
      commands.map((command) => command.name),
    ),
  )
  .join('\n')}
    esac
  fi
  case $path:$place in
${placeOffers(name, levels)}
  esac
}

complete -F ${name} ${program}
`;
}

function valueOptions(levels: readonly Level[]): string {
  const patterns = (options: Level['options'], path: string) =>
    options
      .filter(({ valueName: value }) => value !== undefined)
      .flatMap((option) => flagsOf(option).map((flag) => `${path}:${flag}`));
  const all = [...patterns(everywhere, '*'), ...levels.flatMap(({ path, options }) => patterns(options, path))];
  return `            ${all.join(' | ')}) option=$word ;;`;
}

function valueOffers(name: string, levels: readonly Level[]): string {
  const lines = (options: Level['options'], path: string) =>
    options.flatMap((option) =>
      branch(
        flagsOf(option)
          .map((flag) => `${path}:${flag}`)
          .join(' | '),
        name,
        offerOf(option),
      ),
    );
  return [...levels.flatMap(({ path, options }) => lines(options, path)), ...lines(everywhere, '*')].join('\n');
}

function placeOffers(name: string, levels: readonly Level[]): string {
  return levels
    .flatMap(({ path, places }) =>
      places.flatMap((place, at) => branch(`${path}:${place.variadic === true ? '*' : at}`, name, offerOf(place))),
    )
    .join('\n');
}

function branch(pattern: string, name: string, offer: Offer): readonly string[] {
  switch (offer.kind) {
    case 'words':
      return [heredoc(pattern, name, offer.words)];
    case 'file':
      return [`      ${pattern}) ${name}_files -f ;;`];
    case 'folder':
      return [`      ${pattern}) ${name}_files -d ;;`];
    case 'profile':
      return [`      ${pattern}) ${name}_profiles ;;`];
    case 'nothing':
      return [];
    default:
      return offer satisfies never;
  }
}

// A quoted here-document is the one place where bash expands nothing.
function heredoc(pattern: string, name: string, words: readonly string[]): string {
  return `      ${pattern})\n        ${name}_words <<'WORDS'\n${words.join('\n')}\nWORDS\n        ;;`;
}
