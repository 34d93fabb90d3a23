// `npm run record`: plays commands in a real terminal and draws what it showed as docs/session.svg, for the README.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { headlessBrowser } from './browser.mjs';
import { build } from './build.mjs';
import { root } from './run-vitest.mjs';
import { startSandbox } from './sandbox.mjs';
import { drawTerminal } from './terminal-svg.mjs';

const columns = 116;
/** What a person would type. */
const commands = [
  'cloudctl auth login --scope "read write"',
  'cloudctl actions list --limit 3 --format ID,Status,Type,StartedAt,ResourceType',
  'cloudctl droplets create api-{01..03} --size s-1vcpu-1gb --image debian-12-x64 --region fra1',
  'cloudctl droplets list "api*" --format ID,Name,PublicIPv4,Region,Status',
  'cloudctl auth logout',
];

const home = mkdtempSync(join(tmpdir(), 'cloudctl-'));
try {
  await build();
  mkdirSync(join(home, 'bin'));
  mkdirSync(join(home, 'runtime'), { mode: 0o700 });
  writeFileSync(join(home, 'bin/cloudctl'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/cloudctl.cjs' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(join(home, 'play'), script());
  const screen = await record();
  mkdirSync(join(root, 'docs'), { recursive: true });
  writeFileSync(join(root, 'docs/session.svg'), drawTerminal(screen, { columns, title: 'cloudctl' }));
  console.log(`docs/session.svg: ${screen.split('\n').length} lines`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function script() {
  const typed = commands.flatMap((command) => [
    `printf '\\n\\033[1;32m$\\033[0m \\033[1m%s\\033[0m\\n' '${command}'`,
    command,
  ]);
  // tmux at times does not know with what a program ended, so the script writes it down.
  return ['set -e', `trap 'echo $? >"$HOME/status"' EXIT`, ...typed].join('\n');
}

/** Plays the session against a sandbox that approves by itself, so that no page waits for a person. */
async function record() {
  const env = {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'runtime'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    BROWSER: headlessBrowser(home),
  };
  const sandbox = await startSandbox(env);
  try {
    await sandbox.approve(sandbox.ready.users[0].email);
    return await play({ ...env, CLOUDCTL_PROFILE: 'sandbox' });
  } finally {
    await sandbox.stop();
  }
}

/** The screen with its colours, once the script has ended. */
async function play(env) {
  const socket = join(home, 'runtime/tmux');
  const settings = join(home, 'tmux.conf');
  writeFileSync(settings, 'set -g remain-on-exit on\nset -g status off\nset -g default-terminal screen-256color\n');
  const tmux = (...words) => {
    const { status, stdout, stderr } = spawnSync('tmux', ['-u', '-S', socket, '-f', settings, ...words], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`tmux ${words[0]} failed: ${stderr}`);
    return stdout;
  };
  tmux('new-session', '-d', '-x', String(columns), '-y', '60', '-c', home, '--', 'bash', '--norc', join(home, 'play'));
  try {
    const end = performance.now() + 60_000;
    const status = () => (existsSync(join(home, 'status')) ? readFileSync(join(home, 'status'), 'utf8').trim() : '');
    while (status() === '') {
      if (performance.now() > end) throw new Error(`the session did not end:\n${tmux('capture-pane', '-p')}`);
      await sleep(100);
    }
    const lines = tmux('capture-pane', '-p', '-e', '-S', '-')
      .split('\n')
      .filter((line) => !line.includes('Pane is dead'));
    if (status() !== '0') throw new Error(`the session ended with ${status()}:\n${lines.join('\n')}`);
    return lines.join('\n').trim();
  } finally {
    spawnSync('tmux', ['-S', socket, 'kill-server'], { env });
  }
}
