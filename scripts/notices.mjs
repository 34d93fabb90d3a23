import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licences of everything that was built into the bundle: name, version, licence, text. A package without one is an error. */
export function notices(root, meta) {
  const packages = [...bundledPackages(meta)].sort().map((folder) => describe(root, folder));
  const head = 'cloudctl contains the following packages, each under its own licence.\n';
  return [head, ...packages.map((entry) => `${entry.title}\n\n${entry.text.trim()}\n`)].join(`\n${'-'.repeat(80)}\n\n`);
}

/** Folders of the packages of which at least one byte is in the output. */
export function bundledPackages(meta) {
  const folders = new Set();
  for (const output of Object.values(meta.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder.slice(folder.indexOf('node_modules/')));
    }
  }
  return folders;
}

function describe(root, folder) {
  const { name, version, license, repository } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`${name} ${version} is bundled, but its package.json names no licence`);
  const text = licenceText(join(root, folder));
  if (text === undefined) throw new Error(`${name} ${version} is bundled, but has no text of its licence ${license}`);
  const source = sourceNeeded.test(license)
    ? `\n\nSource: ${sourceOf(repository, name)}, version ${version}, unchanged.`
    : '';
  return { title: `${name} ${version} (${license})`, text: `${text.trim()}${source}` };
}

/** Licences that ask for the place of the source: MPL-2.0 §3.2, and those of the GPL, EPL and CDDL families. */
const sourceNeeded = /\b(MPL|[AL]?GPL|EPL|CDDL)\b/;

function sourceOf(repository, name) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  if (url === undefined)
    throw new Error(`${name} is bundled, and its licence asks for its source, but it names no repository`);
  return url
    .replace(/^git\+/, '')
    .replace(/\.git$/, '')
    .replace(/^git:/, 'https:');
}

/** The file of the licence, else the last part of the README under a heading for it. */
function licenceText(folder) {
  const files = readdirSync(folder);
  const file = files.find((entry) => /^(licen[cs]e|copying)([.-].*)?$/i.test(entry));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8');
  const readme = files.find((entry) => /^readme(\..*)?$/i.test(entry));
  return readme === undefined
    ? undefined
    : /^#+\s*licen[cs]e\s*$([\s\S]*)/im.exec(readFileSync(join(folder, readme), 'utf8'))?.[1];
}
