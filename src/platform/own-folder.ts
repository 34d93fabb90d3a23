import { lstatSync, type Stats, statSync } from 'node:fs';
import { CliError } from '../base/errors.ts';

/**
 * Throws `config_invalid` when another user owns the folder or can write to it, because that user could create or replace files
 * in it. A missing folder is not an error, because it is created later with mode 0700. A symbolic link that the user owns is
 * allowed.
 */
export function requireOwnFolder(folder: string): void {
  // Windows has no user IDs and mode bits to check.
  const user = process.geteuid?.();
  if (user === undefined) return;
  const [link, target] = [statIfPossible(folder, lstatSync), statIfPossible(folder, statSync)];
  if (link === undefined || target === undefined) return;
  const owner = [link.uid, target.uid].find((uid) => uid !== user && uid !== 0);
  if (owner !== undefined)
    throw new CliError('config_invalid', `the folder ${folder} belongs to another user (uid ${owner})`, {
      hint: 'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that you own',
    });
  if ((target.mode & 0o022) !== 0)
    throw new CliError('config_invalid', `other users can write to the folder ${folder}`, {
      detail: `the mode of the folder is 0${(target.mode & 0o7777).toString(8)}, so other users could replace the files of your sessions`,
      hint: `check the files in the folder, then run \`chmod go-w ${folder}\``,
    });
}

/** Returns undefined if the folder is missing or cannot be accessed; the caller's next access to the folder reports why. */
function statIfPossible(folder: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(folder);
  } catch {
    return undefined;
  }
}
