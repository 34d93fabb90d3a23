import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { which } from '../../fixtures/needs.ts';
import type { BatchSetup } from './batch-setup.ts';

export interface Example {
  readonly title: string;
  readonly script: string;
}

const page = readFileSync(new URL('../../../docs/scripting.md', import.meta.url), 'utf8');

/** The scripts of docs/scripting.md, each with the title of its section. */
export const examples: readonly Example[] = page.split(/^## /m).flatMap((section) =>
  [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = '']) => {
    return { title: section.slice(0, section.indexOf('\n')), script };
  }),
);

/** A folder for the path: `cloudctl` as a user has it, a `sleep` that is short, and links to `others`. */
export function programFolder({ work, command }: BatchSetup, others: readonly string[] = []): string {
  const folder = join(work, 'bin');
  mkdirSync(folder);
  for (const [name, text] of [
    // Each line is one run.
    ['cloudctl', `echo run >>'${join(work, 'runs.txt')}'\nexec ${command} "$@"`],
    ['sleep', ':'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  for (const name of others) symlinkSync(which(name) ?? name, join(folder, name));
  return folder;
}
