import { execFileSync, spawnSync } from 'node:child_process';
import fs, {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ensureFolder,
  moveCommand,
  openAppendable,
  readBytes,
  readText,
  removeDurably,
  renameDurably,
  reserveFile,
  tryReadText,
  UnusableFileError,
  writeAtomically,
} from '../../src/platform/files.ts';
import { requireReplaceable, writeSecretFile } from '../../src/platform/secret-file.ts';
import { bundleProgram } from './bundle.ts';

describe('files', () => {
  let folder = '';
  let path = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
    path = join(folder, 'config.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const modeOf = (name: string) => statSync(name).mode & 0o777;

  describe('folders and reading', () => {
    it.skipIf(process.platform !== 'linux')('a folder where none can be made is an error, not an endless try', () => {
      expect(() => ensureFolder('/proc/nothing/below')).toThrow(/nothing/);
      expect(() => ensureFolder('/dev/null/below')).toThrow(/ENOTDIR/);
    });

    it('a folder and its parents are for the user alone, and one that is there is left as it is', () => {
      const deep = join(folder, 'a', 'b');
      ensureFolder(deep);
      expect([modeOf(join(folder, 'a')), modeOf(deep)]).toEqual([0o700, 0o700]);
      chmodSync(deep, 0o750);
      ensureFolder(deep);
      expect(modeOf(deep)).toBe(0o750);
    });

    it('a missing file has no text, and a folder in its place is an error', () => {
      expect(readText(path)).toBeUndefined();
      expect(readText(join(folder, 'no', 'folder'))).toBeUndefined();
      expect(() => readText(folder)).toThrow(UnusableFileError);
      expect(tryReadText(folder)).toBeUndefined();
    });

    it.skipIf(process.platform === 'win32')('what may never end, or is too large, is refused at once', () => {
      execFileSync('mkfifo', [path]);
      symlinkSync('/dev/zero', join(folder, 'zero'));
      writeFileSync(join(folder, 'text'), '12345');
      expect(readBytes(join(folder, 'text'), 5)?.toString()).toBe('12345');
      expect(() => readBytes(join(folder, 'text'), 4)).toThrow(UnusableFileError);
      for (const name of ['config.json', 'zero']) {
        expect(() => readText(join(folder, name))).toThrow(UnusableFileError);
        expect(tryReadText(join(folder, name))).toBeUndefined();
      }
      // A file of /proc says that it has 0 bytes.
      if (process.platform === 'linux') expect(readText('/proc/self/status')).toContain('Pid:');
    });
  });

  describe('writing atomically', () => {
    it('replaces the text, for the user alone, and leaves nothing else behind', () => {
      writeAtomically(path, 'a first text that is longer');
      expect(modeOf(path)).toBe(0o600);
      chmodSync(path, 0o644);
      writeAtomically(path, 'second ✓\n');
      expect([readText(path), modeOf(path), readdirSync(folder)]).toEqual(['second ✓\n', 0o600, ['config.json']]);
    });

    it('never shows a reader half a text', () => {
      writeAtomically(path, 'old');
      const { fsyncSync } = fs;
      const seen = new Set<string | undefined>();
      vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
        seen.add(readText(path));
        fsyncSync(descriptor);
      });
      onTestFinished(() => {
        vi.restoreAllMocks();
        syncBuiltinESMExports();
      });
      syncBuiltinESMExports();
      writeAtomically(path, 'new');
      expect([...seen].filter((text) => text !== 'old' && text !== 'new')).toEqual([]);
      expect(seen).toContain('old');
      expect(readText(path)).toBe('new');
    });

    it('that fails leaves the old text and nothing else', () => {
      mkdirSync(path);
      expect(() => writeAtomically(path, 'new')).toThrow(path);
      expect(readdirSync(folder)).toEqual(['config.json']);
      expect(() => writeAtomically(join(folder, 'no', 'folder'), 'x')).toThrow('ENOENT');
    });

    it.skipIf(process.platform === 'win32')('never takes the place of a device or a pipe', () => {
      execFileSync('mkfifo', [path]);
      expect(() => writeAtomically(path, 'new')).toThrow(path);
      expect(lstatSync(path).isFIFO()).toBe(true);
    });

    it('goes past a temporary file that a killed process of the same number left', () => {
      for (let i = 0; i < 2000; i += 100) writeFileSync(join(folder, `.config.json.${process.pid}.${i}.tmp`), 'left');
      for (let i = 0; i < 120; i++) writeAtomically(path, String(i));
      expect(readText(path)).toBe('119');
      expect(readFileSync(join(folder, `.config.json.${process.pid}.100.tmp`), 'utf8')).toBe('left');
    });

    it.each(['relative', 'absolute', 'a chain', 'to a file that is not there yet'])(
      'goes through a link: %s',
      (kind) => {
        const dotfiles = join(folder, 'dotfiles');
        const real = join(dotfiles, 'real.json');
        mkdirSync(dotfiles);
        if (kind !== 'to a file that is not there yet') writeFileSync(real, 'old');
        if (kind === 'a chain') {
          symlinkSync('real.json', join(dotfiles, 'between.json'));
          symlinkSync(join('dotfiles', 'between.json'), path);
        } else symlinkSync(kind === 'absolute' ? real : join('dotfiles', 'real.json'), path);
        const link = readlinkSync(path);
        writeAtomically(path, 'new');
        expect([readFileSync(real, 'utf8'), lstatSync(path).isSymbolicLink(), readlinkSync(path)]).toEqual([
          'new',
          true,
          link,
        ]);
        expect(lstatSync(real).isSymbolicLink()).toBe(false);
        expect(readdirSync(dotfiles).some((name) => name.endsWith('.tmp'))).toBe(false);
      },
    );

    it('a link that leads to itself is an error', () => {
      symlinkSync(path, path);
      expect(() => writeAtomically(path, 'x')).toThrow(expect.objectContaining({ code: 'ELOOP' }));
    });
  });

  describe('a file with room', () => {
    it('has its head and zeros on the disk before anything else, and is filled in place', () => {
      const file = reserveFile(path, '{"op":"refresh"}\n', 64);
      expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from('{"op":"refresh"}\n'), Buffer.alloc(64)]));
      const { ino } = statSync(path);
      file.fill(Buffer.from('sealed'));
      expect(readFileSync(path, 'latin1')).toBe(`{"op":"refresh"}\nsealed${'\0'.repeat(58)}`);
      expect(statSync(path).ino).toBe(ino);
      expect(modeOf(path)).toBe(0o600);
      const seen: number[] = [];
      file.fill(Buffer.alloc(65, 'x'), () => seen.push(statSync(path).size));
      expect(seen).toEqual([17 + 65]);
      file.close();
    });

    it('is never made over one that is there', () => {
      writeFileSync(path, 'older');
      expect(() => reserveFile(path, 'head', 8)).toThrow('EEXIST');
      expect(readText(path)).toBe('older');
    });
  });

  describe('removing', () => {
    it('removes, and what is not there is removed as well', () => {
      writeFileSync(path, 'x');
      removeDurably(path);
      removeDurably(path);
      removeDurably(join(folder, 'no', 'folder'));
      expect(readdirSync(folder)).toEqual([]);
    });
  });

  /** A file system of 64 KiB of its own, which ends with the process. */
  const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

  describe.skipIf(!canMount)('a disk', () => {
    const program = `
    import { readdirSync, writeFileSync } from 'node:fs';
    import { reserveFile, readText, writeAtomically } from './src/platform/files.ts';
    import { requireReplaceable, writeSecretFile } from './src/platform/secret-file.ts';
    const [mode] = process.argv.slice(2);
    const code = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
    const path = (work) => { try { work(); return 'done'; } catch (error) { return error.message.replace(/^.* /, ''); } };
    const results = mode === 'full' ? (() => {
      writeAtomically('record', 'old');
      const journal = reserveFile('journal', 'head', 4096);
      const filler = code(() => writeFileSync('filler', Buffer.alloc(100_000)));
      return [filler, code(() => writeAtomically('record', 'n'.repeat(5000))), code(() => reserveFile('wal', 'head', 4096)),
        path(() => writeAtomically('record', 'n'.repeat(5000))), path(() => reserveFile('wal', 'head', 4096)),
        code(() => requireReplaceable('record', 4096, 'probe')), code(() => writeSecretFile('record', 'n'.repeat(5000))), readText('record'),
        code(() => journal.fill(Buffer.alloc(4096, 'x'))), readText('journal') === 'head' + 'x'.repeat(4096)];
    })() : [code(() => writeAtomically('record', 'new')), code(() => reserveFile('wal', 'head', 4096))];
    console.log(JSON.stringify([...results, readdirSync('.').sort()]));
  `;
    const run = async (mode: string, mount: string): Promise<unknown> => {
      const bundle = await bundleProgram({ text: program }, 'esm');
      onTestFinished(() => bundle.remove());
      const shell = `mount -t tmpfs -o size=64k tmpfs "$1" && cd "$1" && ${mount} exec "$2" "$3" ${mode}`;
      const { stdout, stderr } = spawnSync('unshare', [
        '-rm',
        'sh',
        '-c',
        shell,
        'sh',
        folder,
        process.execPath,
        bundle.script,
      ]);
      expect(String(stderr)).toBe('');
      return JSON.parse(String(stdout));
    };

    it('that is full fails before anything is replaced, and the space that was reserved can still be filled', async () => {
      const [full, record] = ['ENOSPC', expect.stringMatching(/^'.*record'$/)];
      const failed = [full, full, full, record, "'wal'", full, full];
      expect(await run('full', '')).toEqual([...failed, 'old', 'done', true, ['filler', 'journal', 'record']]);
    });

    it('that is read-only fails and leaves nothing behind', async () => {
      expect(await run('readonly', 'mount -o remount,ro "$1" && cd "$1" &&')).toEqual(['EROFS', 'EROFS', []]);
    });
  });

  it('the command that moves a file away is made also in a folder that is a link to itself', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloudctl-loop-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'));
    expect(moveCommand(join(folder, 'loop', 'config.json'))).toContain('config.json.damaged');
  });
});

describe('durable files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'durable-'));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    rmSync(folder, { recursive: true });
  });

  /** What decides which file a power cut leaves, in the order in which the system is asked; `.` is the folder itself. */
  function deedsOf(work: () => void): readonly string[] {
    const deeds: string[] = [];
    const open = new Map<number, string>();
    const nameOf = (path: unknown) => (relative(folder, String(path)) || '.').replace(/^\..*\.tmp$/, 'temporary');
    const { openSync, fsyncSync, renameSync, unlinkSync } = fs;
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
      const descriptor = openSync(path, ...rest);
      open.set(descriptor, nameOf(path));
      return descriptor;
    });
    vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
      fsyncSync(descriptor);
      deeds.push(`sync ${open.get(descriptor)}`);
    });
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      renameSync(from, to);
      deeds.push(`rename ${nameOf(from)} to ${nameOf(to)}`);
    });
    vi.spyOn(fs, 'unlinkSync').mockImplementation((path) => {
      unlinkSync(path);
      deeds.push(`remove ${nameOf(path)}`);
    });
    syncBuiltinESMExports();
    work();
    return deeds;
  }

  /** Windows cannot sync a folder. */
  const folderSynced = process.platform === 'win32' ? [] : ['sync .'];

  it('what replaces a file has its text on the disk before it is renamed, and the folder after', () => {
    const path = join(folder, 'record');
    const deeds = deedsOf(() => writeSecretFile(path, 'new'));
    expect(deeds).toEqual(['sync temporary', 'rename temporary to record', ...folderSynced]);
  });

  it('the proof that a file can be replaced makes each of these calls once, and leaves the file', () => {
    const path = join(folder, 'record');
    writeFileSync(path, 'old');
    const deeds = deedsOf(() => requireReplaceable(path, 4096, path));
    expect(deeds).toEqual(['sync temporary', 'rename temporary to temporary', ...folderSynced]);
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old', ['record']]);
  });

  it('a file with room is on the disk, and its folder after it, before anything is written into it', () => {
    const deeds = deedsOf(() => reserveFile(join(folder, 'wal'), 'head', 8).close());
    expect(deeds).toEqual(['sync wal', ...folderSynced]);
  });

  it('a file that is renamed keeps its new name after a power cut', () => {
    writeFileSync(join(folder, 'draft'), '');
    const deeds = deedsOf(() => renameDurably(join(folder, 'draft'), join(folder, 'wal')));
    expect(deeds).toEqual(['rename draft to wal', ...folderSynced]);
  });

  it('a file that is removed stays removed after a power cut', () => {
    writeFileSync(join(folder, 'wal'), '');
    const deeds = deedsOf(() => removeDurably(join(folder, 'wal')));
    expect(deeds).toEqual(['remove wal', ...folderSynced]);
  });

  it('where nothing was removed the disk is not waited for', () => {
    expect(deedsOf(() => removeDurably(join(folder, 'wal')))).toEqual([]);
  });
});

describe('a file that is appended to', () => {
  function place(): string {
    const folder = mkdtempSync(join(tmpdir(), 'cloudctl-append-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return join(folder, 'file');
  }

  it('lines stay in their order, for this user alone, and half a line is cut off', () => {
    const path = place();
    const first = openAppendable(path, (lines) => lines);
    first.append('one');
    first.append('zwei é');
    first.close();
    appendFileSync(path, 'half');
    const second = openAppendable(path, (lines) => lines);
    expect(second.lines).toEqual(['one', 'zwei é']);
    second.append('three');
    second.close();
    expect(readFileSync(path, 'utf8')).toBe('one\nzwei é\nthree\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('lines that are not kept are gone when it is open', () => {
    const path = place();
    const first = openAppendable(path, (lines) => lines);
    for (const line of ['a', 'b', 'c']) first.append(line);
    first.close();
    openAppendable(path, (lines) => lines.filter((line) => line !== 'b')).close();
    expect(readFileSync(path, 'utf8')).toBe('a\nc\n');
  });
});
