import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';

/**
 * The built program as a person runs it, from its start to its end. Resolves with the seconds it took, the lines it printed,
 * and its resident memory in MB at its highest, where the system tells; rejects when it ends with anything but 0.
 */
export async function runProgram(words, env) {
  let lines = 0;
  const { code, stderr, memory, elapsed } = await measureProgram(words, env, (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  if (code !== 0) throw new Error(`${words.slice(0, 2).join(' ')} ended with ${code}: ${stderr.slice(-2000)}`);
  return { seconds: elapsed / 1000, memory, lines };
}

/**
 * Runs `db preflight` or `db inventory` with `-o json`; the exit code says what it found. Resolves with the report, what the
 * program printed on stderr, its milliseconds and its memory in MB; rejects when there is no report.
 */
export async function runDbProgram(command, words, env) {
  const chunks = [];
  const all = ['db', command, ...words, '-o', 'json'];
  const { stderr, memory, elapsed } = await measureProgram(all, env, (chunk) => chunks.push(chunk));
  try {
    return { report: JSON.parse(Buffer.concat(chunks).toString('utf8')), stderr, memory, elapsed };
  } catch {
    throw new Error(`db ${command} printed no report: ${stderr}`);
  }
}

/** @param onOutput called with each chunk of stdout */
function measureProgram(words, env, onOutput) {
  const begun = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/cloudctl.cjs'), ...words], { env });
  let memory = 0;
  const watch = setInterval(() => {
    memory = Math.max(memory, peakOf(child.pid));
  }, 20);
  let stderr = '';
  child.stdin.end();
  child.stdout.on('data', onOutput);
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(watch);
      resolve({ code, stderr, memory, elapsed: performance.now() - begun });
    });
  });
}

function peakOf(pid) {
  try {
    return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return 0;
  }
}
