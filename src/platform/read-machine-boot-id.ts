import { statfsSync } from 'node:fs';
import { readTextIfPresent } from './files.ts';

/**
 * The boot ID of this machine (random(4)), for a folder whose file system keeps written data until the next boot, even if the
 * process is killed. The result is undefined for a network file system, which may lose data that it cannot send.
 */
export function readMachineBootId(folder: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'linux') return undefined;
  try {
    if (!localFileSystems.has(statfsSync(folder).type)) return undefined;
    return readTextIfPresent('/proc/sys/kernel/random/boot_id')?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Magic numbers of local file systems, on disk or in memory (statfs(2)). */
const localFileSystems: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);
