import { statfsSync } from 'node:fs';
import { readTextIfPresent } from './files.ts';

/**
 * The boot ID of this machine (random(4)), for a folder whose file system keeps all written data until the next boot, also when
 * the process is killed. undefined where that is not certain: a network file system may lose data that it cannot send.
 */
export function bootId(folder: string, platform: NodeJS.Platform): string | undefined {
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
