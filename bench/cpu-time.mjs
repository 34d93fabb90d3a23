// CPU time of commands, as a multiple of a bare start of node. On a busy machine it varies much less than the time that passes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The case that the others are compared with. */
export const bareNode = 'node -e 0';

/** A command that takes longer is ended, with all its processes. */
const limitMs = 60_000;

/** `"$@"` with its times, in seconds, in the file $CPU_TIME: user and system, of all its processes, and what passed. */
const timed = 'TIMEFORMAT="%3U %3S %3R"; { time "$@" 2>&3; } 3>&2 2>"$CPU_TIME"';

/**
 * Medians of `rounds` rounds, by the name of the case: `ms` of CPU time, its `ratio` to bare node in the same round, and `wall`,
 * the milliseconds that passed. The commands take turns, so a slow moment of the machine affects all of them. A case is
 * `{ words, env, terminal }`: with `terminal` the command runs on a terminal of 80 columns and 200 rows, which needs no pager,
 * else its output is a pipe.
 */
export async function measureCpuTime(cases, { rounds, env }) {
  const all = { [bareNode]: { words: [process.execPath, '-e', '0'], env }, ...cases };
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-cpu-'));
  const samples = new Map(Object.keys(all).map((name) => [name, { ms: [], ratio: [], wall: [] }]));
  try {
    for (let round = -1; round < rounds; round++) {
      let base = 1;
      for (const [name, one] of Object.entries(all)) {
        const { ms, wall } = await runOnce(name, one, join(folder, 'time'));
        if (name === bareNode) base = ms;
        if (round < 0) continue;
        samples.get(name).ms.push(ms);
        samples.get(name).ratio.push(ms / base);
        samples.get(name).wall.push(wall);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return new Map(
    [...samples].map(([name, { ms, ratio, wall }]) => [
      name,
      { ms: median(ms), ratio: median(ratio), wall: median(wall) },
    ]),
  );
}

/** Both in milliseconds. */
async function runOnce(name, { words, env, terminal = false }, file) {
  const command = ['bash', '-c', timed, 'bash', ...words];
  const line = `stty columns 80 rows 200 && exec ${command.map(quoted).join(' ')}`;
  const [program, ...args] = terminal ? ['script', '--quiet', '--return', '--command', line, '/dev/null'] : command;
  const child = spawn(program, args, {
    env: { ...env, SHELL: '/bin/sh', CPU_TIME: file },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limitMs);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  clearTimeout(late);
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${printed}`);
  const [user, system, wall] = readFileSync(file, 'utf8').split(' ').map(Number);
  return { ms: (user + system) * 1000, wall: wall * 1000 };
}

function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

export function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
