import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { completionScript, type Shell } from '../../../src/cli/completion.ts';
import { describeProgram } from '../../../src/cli/describe.ts';
import { testTree } from '../tree.ts';

export interface Completer {
  /** What the shell itself offers after these words, the last of which is being typed. */
  readonly offers: (...words: readonly string[]) => Promise<readonly string[]>;
  /** What the shell says of the script without running it. */
  readonly check: () => Promise<string>;
  readonly folder: string;
  readonly close: () => void;
}

/** The script of the test tree, in a real shell. Its program knows three profiles, one of them with an evil name. */
export async function completer(shell: Exclude<Shell, 'powershell'>): Promise<Completer> {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-completion-'));
  const script = join(folder, `script.${shell}`);
  writeFileSync(script, await testScript(shell));
  const driver = join(folder, `driver.${shell}`);
  writeFileSync(driver, drivers[shell]);
  const program = join(folder, 'cloudctl');
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1 $2" = "auth list" ] && printf '%s\\n' home work '$(touch ${folder}/owned)'\n`,
  );
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

export async function testScript(shell: Shell): Promise<string> {
  return completionScript(shell, await describeProgram('cloudctl', 'the cloud', testTree()));
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
