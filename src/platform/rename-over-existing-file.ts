import { renameSync } from 'node:fs';

/** The file operations that replace a file; a test can substitute them. */
interface FileRenameOperations {
  readonly platform: NodeJS.Platform;
  readonly rename: (from: string, to: string) => void;
  readonly pause: (milliseconds: number) => void;
}

/**
 * Renames a file, and replaces an existing one. On Windows the rename fails while another program, such as
 * a virus scanner, has the existing file open (MoveFileEx), so it is repeated there for two seconds.
 */
export function renameOver(from: string, to: string, system: FileRenameOperations = realSystem): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      system.rename(from, to);
      return;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (system.platform !== 'win32' || attempt === pausesMs.length || !busyCodes.includes(code)) throw error;
      system.pause(pausesMs[attempt] ?? 0);
    }
  }
}

/** ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION. */
const busyCodes: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];
const pausesMs: readonly number[] = [10, 20, 50, 100, 200, 400, 600, 620];

const realSystem: FileRenameOperations = {
  platform: process.platform,
  rename: (from, to) => renameSync(from, to),
  // The callers are synchronous, so that no other code of this process runs between the write and the rename.
  pause: (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds),
};
