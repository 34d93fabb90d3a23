import { lstatSync, type Stats, statSync } from 'node:fs';
import { CliError } from '../errors.ts';

/**
 * Throws `config_invalid` when another user owns the folder or can write to it: that user could plant files there. A missing
 * folder is created with mode 0700 later. A symbolic link of one's own is allowed.
 */
export function requireOwnFolder(folder: string): void {
  // Windows has other permissions.
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
      detail: `its mode is 0${(target.mode & 0o7777).toString(8)}, so they could replace the files of your sessions`,
      hint: `check its files, then run \`chmod go-w ${folder}\``,
    });
}

/** undefined when it is missing or cannot be reached: the access that follows reports why. */
function statIfPossible(folder: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(folder);
  } catch {
    return undefined;
  }
}
