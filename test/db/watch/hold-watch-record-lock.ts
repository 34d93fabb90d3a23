import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { onTestFinished } from 'vitest';

const script = `
  const [library, path, text] = process.argv.slice(1);
  const { openSync, writeFileSync } = require('node:fs');
  if (!require(library).tryLock(openSync(path + '.lock', 'a+'))) process.exit(1);
  process.stdout.write('locked');
  setTimeout(() => { writeFileSync(path, text); process.exit(0); }, 100);
`;

/**
 * Another process that has read a watch record, and holds its lock: 0.1 s later it replaces the record by this JSON, and ends.
 * Resolves when the process has the lock; `end` resolves when it has ended.
 */
export async function holdWatchRecordLock(path: string, json: object): Promise<{ end(): Promise<unknown> }> {
  const library = createRequire(import.meta.url).resolve('fs-native-extensions');
  const child = spawn(process.execPath, ['-e', script, library, path, JSON.stringify({ version: 1, ...json })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { end: () => ended };
}
