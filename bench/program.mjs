import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/run-vitest.mjs';

/**
 * The built program as a person runs it, from its start to its end. Resolves with the seconds it took, the lines it printed,
 * and its resident memory in MB at its highest, where the system tells; rejects when it ends with anything but 0.
 */
export function runProgram(words, env) {
  const begun = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/cloudctl.cjs'), ...words], { env });
  let memory = 0;
  const watch = setInterval(() => {
    memory = Math.max(memory, peakOf(child.pid));
  }, 20);
  let [lines, said] = [0, ''];
  child.stdin.end();
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-2000);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(watch);
      if (code === 0) resolve({ seconds: (performance.now() - begun) / 1000, memory, lines });
      else reject(new Error(`${words.slice(0, 2).join(' ')} ended with ${code}: ${said}`));
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
