import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { bin, node, startProgram } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Sandbox, startSandbox } from '../fixtures/sandbox.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);

/** The lines of the code blocks for a shell. The sandbox is started by the test, the commands of npm by CI. */
function scriptOf(page: string): string {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.filter((block) => !/^(npm ci|cloudctl sandbox start\n)/.test(block)).join('\n');
}

/** `cloudctl` on the path. A login, which opens no browser without a terminal, has its address visited. */
function programFolder(folders: Folders): string {
  const folder = join(folders.home, 'bin');
  mkdirSync(folder);
  const login = join(folder, 'login.cjs');
  const program = `
const { spawn } = require('node:child_process');
const { get } = require('node:http');
const words = process.argv.slice(2);
const visit = (url) => get(url, (answer) => {
  answer.resume();
  if (answer.headers.location) visit(new URL(answer.headers.location, url));
});
const child = spawn(${JSON.stringify(node)}, [${JSON.stringify(bin)}, ...words], {
  stdio: ['inherit', 'inherit', 'pipe'],
});
let printed = '';
child.stderr.setEncoding('utf8').on('data', (text) => {
  process.stderr.write(text);
  const before = printed;
  printed += text;
  const found = /^https?:.*authorize.*$/m.exec(printed);
  if (found !== null && !/^https?:.*authorize.*$/m.test(before)) visit(found[0]);
});
child.on('exit', (code) => process.exit(code ?? 1));
`;
  writeFileSync(login, program);
  const file = join(folder, 'cloudctl');
  const choice = `case " $* " in *' auth login '*) exec '${node}' '${login}' "$@" ;; *) exec '${node}' '${bin}' "$@" ;; esac`;
  writeFileSync(file, `#!/bin/sh\n${choice}\n`);
  chmodSync(file, 0o755);
  return folder;
}

test.each(['README.md', ...guides])('every command of %s works', async (page) => {
  const script = scriptOf(page);
  expect(script).not.toBe('');
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const sandbox = await startSandbox(folders, ['--consent', 'approve maya@example.com']);
  onTestFinished(async () => void (await sandbox.stop()));
  const folder = programFolder(folders);
  // The example of a preflight has a database of its own, which the tests of db start.
  const lines = script.split('\n').filter((line) => !line.includes('"$SOURCE"'));
  const ran = await startProgram('bash', ['-euo', 'pipefail', '-c', lines.join('\n')], {
    folders,
    limit: 60_000,
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      CLOUDCTL_CREDENTIAL_STORE: 'file',
      // Before a login in the guide: the user of the sandbox in this shell.
      ...(script.includes('auth login') ? {} : { ...sandbox.env, CLOUDCTL_ACCESS_TOKEN: await tokenOf(sandbox) }),
    },
  }).ended;
  expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({ code: 0, stderr: '' });
});

async function tokenOf(sandbox: Sandbox): Promise<string> {
  const { body } = await sandbox.admin('POST', '/_sandbox/tokens', { user: 'maya@example.com', scope: 'read write' });
  return String((body as { readonly access_token?: unknown }).access_token);
}
