import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorOf, expectInvariants, list, refreshCommits, runNextCommand } from './assertions.ts';
import { createFaultFixture, type FaultFixture } from './fault-fixture.ts';
import { describeStores } from './stores.ts';

interface Disk {
  readonly what: string;
  /** What the program is run under; the script's first argument is the folder of the sessions. */
  readonly under: (folder: string) => readonly string[];
  readonly before?: (folder: string) => void;
  readonly after?: (folder: string) => void;
  /** It is found out when the lock is taken: no file can be made at all. */
  readonly locks?: false;
}

const shell = (script: string) => (folder: string) => ['sh', '-c', script, 'sh', folder];
/** In a mount namespace of its own: nobody else sees the mount, and it is gone with the program. */
const mounted = (script: string) => (folder: string) => ['unshare', '--mount', ...shell(script)(folder)];

const full = `
  cp -a "$1" "$1.copy" && mount -t tmpfs -o size=16k,mode=700 full "$1" && cp -a "$1.copy/." "$1" && rm -r "$1.copy"
  dd if=/dev/zero of="$1/filler" bs=512 2>/dev/null
  shift; exec "$@"`;
const readOnly = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"';
/** root without the power to pass over permissions, or a person who has none. */
const barred =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all'] : [];

const disks: readonly Disk[] = [
  { what: 'files may not grow (EFBIG)', under: shell('shift; ulimit -f 1; exec "$@"') },
  { what: 'no space is left (ENOSPC)', under: mounted(full) },
  { what: 'it is read-only (EROFS)', under: mounted(readOnly), locks: false },
  {
    what: 'it belongs to somebody else (EACCES)',
    under: () => barred,
    before: (folder) => chmodSync(folder, 0o500),
    after: (folder) => chmodSync(folder, 0o700),
    locks: false,
  },
];

/** Who may not mount, as on some machines of CI, has the two disks that need no right for it. */
const mayMount = canMount();

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-mount-'));
  try {
    const script = 'mount -t tmpfs -o size=16k try "$1"';
    return spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', folder]).status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeStores('a disk that does not take the answer', ({ make }) => {
  for (const disk of disks) {
    const mounts = disk.under('').includes('--mount');
    test.skipIf(mounts && !mayMount)(`K12: ${disk.what}: nothing is sent, nothing is lost`, async (context) => {
      const fixture = await make(context);
      const { folder } = fixture.place;
      const { locks = true } = disk;
      const before = contents(fixture);
      disk.before?.(folder);
      const ran = await fixture.run(list, { under: disk.under(folder) });
      disk.after?.(folder);
      expect([ran.code, errorOf(ran), ran.stdout]).toEqual([7, 'storage', '']);
      const words = locks ? 'nothing was sent, and the session was kept' : `could not lock a file in ${folder}: `;
      expect(ran.stderr).toContain(words);
      expect(ran.stderr).toMatch(/E[A-Z]{4,6}\b/);
      expect(fixture.refreshes()).toEqual([]);
      expect(contents(fixture)).toEqual(before);
      expect(await runNextCommand(fixture)).toBe('usable');
      expect(refreshCommits(fixture)).toHaveLength(1);
      await expectInvariants(fixture);
      expect(fixture.beside()).toEqual([]);
    });
  }
});

/** The person's files by name; the empty lock, which every command may make, is none. */
function contents({ place }: FaultFixture): Readonly<Record<string, string>> {
  const names = readdirSync(place.folder).filter((name) => !name.endsWith('lock'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(place.folder, name), 'latin1')]));
}

/** As in a container with `-v FILE:FILE`. */
const aloneMounted = mounted('mount --bind "$1" "$1" && shift && exec "$@"');

test.skipIf(!mayMount)(
  'a credential file that is a mount of its own is an error before anything is sent',
  async (context) => {
    const fixture = await createFaultFixture('file', { test: context });
    const ran = await fixture.run(list, { under: aloneMounted(fixture.place.credentialFile) });
    expect([ran.code, errorOf(ran)]).toEqual([1, 'keychain_unavailable']);
    expect(ran.stderr).toContain(fixture.place.folder);
    expect(fixture.refreshes()).toEqual([]);
    expect(fixture.beside()).toEqual([]);
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
  },
);
