import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A secret that stands nowhere else in the world, with a character that each encoding writes differently. */
export function canary(name: string): string {
  return `${name}+${randomBytes(12).toString('hex')}`;
}

/** The ways a secret could be written: raw, percent-, form-, base64- and JSON-encoded, and reversed orders of those. */
function spellings(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    new URLSearchParams({ x: secret }).toString().slice(2),
    // Inside a longer text base64 starts at another bit: the middle of the canary is the same in one of three places.
    ...[0, 1, 2].map((shift) =>
      Buffer.from(`${'x'.repeat(shift)}${secret}`)
        .toString('base64')
        .slice(4, -4),
    ),
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
    JSON.stringify(secret).slice(1, -1),
    secret.split('+')[1] ?? secret,
  ];
}

/** The names of the canaries that a text holds in any spelling. */
export function canariesIn(text: string, canaries: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(canaries).flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => text.includes(spelling)) ? [name] : [],
  );
}

/** All files below the folders but those that are the store of secrets. */
export function filesBelow(
  folders: readonly string[],
  store: RegExp,
): readonly { readonly path: string; readonly text: string }[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true && !store.test(path))
      .map((path) => ({ path, text: readFileSync(path, 'latin1') })),
  );
}

/** Argument lists and environments' names of every process whose environment names the folder. */
export function argumentsOf(home: string): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(home)) return '';
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .join('\n');
}
