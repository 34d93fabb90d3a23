import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';
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

/**
 * Throws `config_invalid` unless the file could only have been written or replaced by the user or root: the file, each symbolic
 * link and each folder on its path belong to them, and no folder or file is writable for others. In a folder with the sticky bit,
 * such as /tmp, others cannot replace what belongs to the user (as StrictModes of sshd checks it).
 */
export function requireFileOfUser(path: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const refuse = (why: string, command?: string): never => {
    throw new CliError('config_invalid', `cannot run a command from ${path}: ${why}`, {
      detail: 'somebody else could have written the command',
      hint: command === undefined ? undefined : `check the file, then run \`${command}\``,
    });
  };
  const check = (at: string, file: Stats): void => {
    if (file.uid !== user && file.uid !== 0)
      refuse(`${at} belongs to another user (uid ${file.uid})`, `chown -h ${user} ${at}`);
    const isSticky = file.isDirectory() && (file.mode & 0o1000) !== 0;
    if (!file.isSymbolicLink() && !isSticky && (file.mode & 0o022) !== 0)
      refuse(`other users can write to ${at}`, `chmod go-w ${at}`);
  };
  const inspect = (next: string): Stats =>
    statIfPossible(next, lstatSync) ?? refuse(`the owner of ${next} is not known`);
  let at = parse(resolve(path)).root;
  let rest = resolve(path).slice(at.length).split(sep);
  check(at, inspect(at));
  for (let links = 0; rest.length > 0; ) {
    const [name = '', ...below] = rest;
    rest = below;
    // As the kernel does: `..` is the parent of the folder to which a link has led, not a part of the text.
    if (name === '..') at = dirname(at);
    if (name === '' || name === '.' || name === '..') continue;
    const next = join(at, name);
    const file = inspect(next);
    check(next, file);
    if (!file.isSymbolicLink()) at = next;
    else {
      links += 1;
      if (links > maxLinks) refuse('its path has too many symbolic links');
      const target = readlinkSync(next);
      if (target.startsWith(sep)) at = parse(target).root;
      rest = [...target.split(sep), ...below];
    }
  }
}

const maxLinks = 40;

/** Returns undefined if the folder is missing or cannot be accessed; the caller's next access to the folder reports why. */
function statIfPossible(folder: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(folder);
  } catch {
    return undefined;
  }
}
