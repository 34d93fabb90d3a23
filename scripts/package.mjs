import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { setup } from './build-before-tests.mjs';
import { install, side } from './extra-packages.mjs';
import { parts } from './library.mjs';
import { root } from './run-vitest.mjs';

/** Files that the package must contain. */
const required = [
  'package.json',
  'LICENSE',
  'README.md',
  'bin/cloudctl.cjs',
  'dist/entry.cjs',
  'dist/keychain.cjs',
  ...parts.flatMap((name) => [`dist/library/${name}.js`, `dist/library/types/library/${name}.d.ts`]),
  'dist/main.cjs',
  'dist/help.txt',
  'dist/THIRD-PARTY-NOTICES.txt',
  'llms.txt',
  ...readdirSync(join(root, 'schemas')).map((name) => `schemas/${name}`),
];
/** Bytes of the tarball: what an installation downloads. */
const largestTarball = 1_900_000;
const allowed =
  /^(package\.json|LICENSE|llms\.txt|(README|CHANGELOG|CONTRIBUTING|SECURITY|test\/adversary\/README)\.md|(bin|dist|completions|docs|man|schemas)\/.+)$/;

/**
 * Checks the package that is published: publint's rules, the list of its files, its size, the resolution of its types, an
 * installation from the tarball that runs on `oldest`, the lowest version of Node that package.json allows, and npx.
 */
export async function checkPackage(oldest, ci) {
  await setup();
  const { messages, pkg } = await publint({ pkgDir: root, strict: true });
  if (messages.length > 0) throw new Error(messages.map((message) => formatMessage(message, pkg)).join('\n'));
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-pack-'));
  try {
    const [tarball] = JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder]));
    const files = tarball.files.map((file) => file.path);
    const lacking = required.filter((path) => !files.includes(path));
    const unexpected = files.filter((path) => !allowed.test(path));
    if (lacking.length > 0) throw new Error(`the tarball lacks ${lacking.join(', ')}`);
    if (unexpected.length > 0) throw new Error(`the tarball contains unexpected files: ${unexpected.join(', ')}`);
    checkLinks(files);
    console.log(`${tarball.filename}: ${files.length} files, ${tarball.size} bytes`);
    if (tarball.size > largestTarball) throw new Error(`the tarball has more than ${largestTarball} bytes`);
    const file = join(folder, tarball.filename);
    checkNpx(folder, file);
    const { skipped: types = 0 } = checkTypes(file, ci);
    const { skipped: nodes = 0 } = checkInstallation(folder, file, oldest, ci);
    return { skipped: types + nodes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A person who reads the pages of an installation has no others: files and headings that a page links are in it. */
function checkLinks(files) {
  const texts = new Map(
    files
      .filter((file) => /^(?!dist\/).*\.md$|^llms\.txt$/.test(file))
      .map((page) => [page, readFileSync(join(root, page), 'utf8')]),
  );
  const headings = new Map(
    [...texts].map(([page, text]) => [
      page,
      new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title))),
    ]),
  );
  const isThere = (page, link) => {
    const [path, anchor] = link.split('#');
    const target = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '');
    if (!files.some((file) => file === target || file.startsWith(`${target}/`))) return false;
    return anchor === undefined || headings.get(target)?.has(anchor) !== false;
  };
  const broken = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"/g)]
      .map(([, link, ofTag]) => link ?? ofTag)
      .filter((link) => !/^[a-z]+:/.test(link) && !isThere(page, link))
      .map((link) => `${page}: ${link}`),
  );
  if (broken.length > 0) throw new Error(`the tarball lacks what its pages link:\n${broken.join('\n')}`);
}

/** As the pages of hosts name a heading. */
function anchorOf(title) {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Whether each part resolves to its types and its module, by attw. ES modules only: docs/decisions/029-importable-parts.md. */
function checkTypes(tarball, ci) {
  const folder = join(side, 'attw');
  const attw = join(folder, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  if (!existsSync(attw) && !install(folder, '@arethetypeswrong/cli@0.18.5')) {
    if (ci) throw new Error('attw could not be installed from the registry');
    console.log('attw could not be installed from the registry: the resolution of the types was not checked');
    return { skipped: 1 };
  }
  const words = [attw, tarball, '--profile', 'esm-only', '--format', 'table-flipped', '--no-color', '--no-emoji'];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 });
  if (status !== 0) throw new Error(`attw: ${stdout}${stderr}`);
  console.log('attw: the types of all parts resolve');
  return {};
}

/** A person without an installation runs the tarball, with a cache of npm that has nothing yet, and without install scripts. */
function checkNpx(folder, tarball) {
  const words = ['--yes', '--ignore-scripts', '--cache', join(folder, 'cache'), '--package', tarball, 'cloudctl'];
  const options = { cwd: folder, encoding: /** @type {const} */ ('utf8'), timeout: 300_000 };
  const { status, stdout, stderr } = spawnSync('npx', [...words, 'help', 'exit-codes'], options);
  if (status !== 0 || !stdout.includes('usage')) throw new Error(`npx ended with ${status}: ${stdout}${stderr}`);
  console.log('npx --ignore-scripts runs the tarball');
}

function checkInstallation(folder, tarball, oldest, ci) {
  const prefix = join(folder, 'prefix');
  npm(['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball]);
  const program = join(prefix, 'bin', 'cloudctl');
  checkPinned(join(prefix, 'lib/node_modules/cloudctl'));
  const pages = readdirSync(join(root, 'man')).filter((name) => !existsSync(join(prefix, 'share/man/man1', name)));
  if (pages.length > 0) throw new Error(`npm did not link the man pages ${pages.join(', ')}`);
  checkRuns(program, []);
  if (oldest === undefined) {
    if (ci) throw new Error('the lowest supported node could not be installed from the registry');
    console.log('the lowest supported node could not be installed from the registry: the package was not run on it');
    return { skipped: 1 };
  }
  checkRuns(oldest, [program]);
  return {};
}

/**
 * Every installed package has the version that was tested: one of package.json, or an exact one that such a package names
 * (the native client of each system). Otherwise a new release would run in the process that holds tokens.
 */
function checkPinned(folder) {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
  const { dependencies } = read(join(folder, 'package.json'));
  const installed = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path))
    .map((path) => read(join(folder, 'node_modules', path)));
  const pins = new Map(installed.flatMap((found) => Object.entries(found.optionalDependencies ?? {})));
  for (const [name, version] of Object.entries(dependencies)) pins.set(name, version);
  const floating = installed.filter(({ name, version }) => pins.get(name) !== version);
  if (installed.length === 0 || floating.length > 0)
    throw new Error(`not pinned: ${floating.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
  console.log(`the installed package has ${installed.length} pinned dependencies`);
}

function checkRuns(file, before) {
  for (const word of ['--version', '--help']) {
    const { status, stdout, stderr } = spawnSync(file, [...before, word], { encoding: 'utf8', timeout: 30_000 });
    if (status !== 0 || stdout === '') throw new Error(`the installed package fails ${word} on ${file}: ${stderr}`);
  }
  console.log(`the installed package runs with ${file}`);
}

function npm(words) {
  const { status, stdout, stderr } = spawnSync('npm', [...words, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`npm ${words[0]} failed: ${stderr}`);
  return stdout;
}
