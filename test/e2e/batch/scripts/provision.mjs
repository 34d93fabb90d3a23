// child_process: a program that is awaited, and one whose rows are read while it runs.
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const attributes = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
const run = promisify(execFile);

const child = spawn('cloudctl', ['droplets', 'create', 'js-{01..25}', ...attributes, '-o', 'ndjson'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
for await (const line of createInterface({ input: child.stdout })) {
  const { name, id } = JSON.parse(line);
  console.log(JSON.stringify({ name, id }));
}

const failed = await run('cloudctl', ['droplets', 'create', 'js-01', ...attributes, '-o', 'json']).catch(
  (error) => error,
);
console.log(JSON.stringify({ exit: failed.code, code: JSON.parse(failed.stderr).error.code }));
