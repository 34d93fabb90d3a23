import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { type CompletionShell, completionScript } from '../../../src/cli/completion-scripts.ts';

export interface Completer {
  /** What the shell itself offers after these words, the last of which is being typed. */
  readonly offers: (...words: readonly string[]) => Promise<readonly string[]>;
  /** What the shell says of the script without running it. */
  readonly check: () => Promise<string>;
  readonly folder: string;
  readonly close: () => void;
}

/** The script in a real shell, with a `cloudctl` that has the test tree and three profiles, one of them with a hostile name. */
export async function completer(shell: Exclude<CompletionShell, 'powershell'>): Promise<Completer> {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-completion-'));
  const script = join(folder, `script.${shell}`);
  writeFileSync(script, completionScript(shell, 'cloudctl'));
  const driver = join(folder, `driver.${shell}`);
  writeFileSync(driver, drivers[shell]);
  const program = join(folder, 'cloudctl');
  writeFileSync(program, `#!${process.execPath}\n${await testProgram(['home', 'work', `$(touch ${folder}/owned)`])}`);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, 'names one.txt'), '');
  const run = async (args: readonly string[]) => {
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, TERM: 'xterm', LC_ALL: 'C.UTF-8' };
    const { stdout, stderr } = await execute(shell, args, { cwd: folder, env, timeout: 15_000 });
    // What zsh draws, without moving the cursor.
    return (stdout + stderr).replace(/\u001b\[[\d;?]*[a-zA-Z]/g, '').replaceAll('\r', '\n');
  };
  return {
    folder,
    offers: async (...words) =>
      (await run([...quiet[shell], driver, script, ...words])).split('\n').filter((line) => line !== ''),
    check: () => run(['-n', script]),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A program in one CommonJS file that answers `__complete` for the test tree. */
async function testProgram(profiles: readonly string[]): Promise<string> {
  const contents = `import { completeLine as complete } from './src/cli/complete.ts';
    import { testTree } from './test/cli/tree.ts';
    const root = { kind: 'group', summary: 'the cloud', children: testTree() };
    const profiles = ${JSON.stringify(profiles)}.map((value) => ({ value }));
    complete(root, process.argv.slice(4), (from) => (from === 'profile' ? profiles : [])).then((lines) => console.log(lines.join('\\n')));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../../..', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    // Help and the parser are loaded lazily, and not for completion.
    external: ['commander', 'chalk'],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

const execute = promisify(execFile);

/** Without the settings of whoever runs the tests. */
const quiet = { bash: ['--norc', '--noprofile'], zsh: ['-f'], fish: ['--no-config'] } as const;

const drivers = {
  bash: `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_cloudctl
for word in "\${COMPREPLY[@]}"; do echo "$word"; done
`,
  fish: `source $argv[1]
complete -C (string join ' ' $argv[2..])
`,
  // zsh completes only where somebody types: a second shell on a terminal of its own, whose screen is read.
  zsh: `zmodload zsh/zpty
zpty -b typed zsh -f -i
zpty -w typed "PS1='> '; unsetopt beep; setopt no_auto_menu; LISTMAX=1000; autoload -Uz compinit; compinit -u -D; source $1; print RE''ADY"
shift
seen= part= turn=0
until [[ $seen == *READY* ]] || (( turn++ > 200 )); do zpty -r -t typed part && seen+=$part || sleep 0.05; done
zpty -w -n typed "$*"$'\\t\\t'
seen= turn=0
while (( turn++ < 10 )); do while zpty -r -t typed part; do seen+=$part; turn=0; done; sleep 0.05; done
print -r -- $seen
zpty -d typed
`,
};
