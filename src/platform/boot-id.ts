import { statfsSync } from 'node:fs';
import { readTextIfPresent } from './files.ts';

/**
 * Names this start of the machine until the next one (random(4)), for a folder where all that was written stays until then,
 * whatever becomes of the process. undefined where that is not sure: a file system of the network loses what it cannot send.
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

/** File systems on a disk or in the memory of this machine, by their magic numbers (statfs(2)). */
const localFileSystems: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);
