import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licences of everything that was built into the bundle: name, version, licence, text. A package without a licence is an error. */
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
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`${name} ${version} is bundled, but its package.json names no licence`);
  return { title: `${name} ${version} (${license})`, text: licenceText(join(root, folder)) ?? `Licence: ${license}` };
}

function licenceText(folder) {
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)([.-].*)?$/i.test(entry));
  return file !== undefined ? readFileSync(join(folder, file), 'utf8') : undefined;
}
