import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { CliError } from '../base/errors.ts';
import { quoteShellArg } from '../base/text.ts';

/**
 * Throws `config_invalid` when another user owns the folder or can write to it, because that user could create or replace files in
 * it, or when it is no folder. A missing folder is not an error, because it is created later with mode 0700. A symbolic link that the user owns is allowed.
 */
export function requireOwner(folder: string): void {
  // Windows has no user IDs and mode bits to check.
  const user = process.geteuid?.();
  if (user === undefined) return;
  const [link, target] = [statIfPossible(folder, lstatSync), statIfPossible(folder, statSync)];
  if (link === undefined || target === undefined) return;
  if (!target.isDirectory())
    throw new CliError('config_invalid', `${folder} is not a folder`, { hint: ownFoldersHint });
  const owner = [link.uid, target.uid].find((uid) => uid !== user && uid !== 0);
  if (owner !== undefined) throw foreignFolderError(folder, owner);
  if ((target.mode & 0o022) !== 0) throw writableError(folder, target, user, 'the files of your sessions');
}

/** Throws `config_invalid` also when another user could replace the folder. */
export function requireOwnFolder(folder: string): void {
  requireOwner(folder);
  requireOwnPath(folder);
}

/**
 * Throws `config_invalid` when another user owns the folder, a parent of it or a symbolic link that leads to it, or can write to
 * one of them, because that user could replace what is in it between two accesses (as StrictModes of sshd checks it). The parents
 * of a missing folder are checked too. The sticky bit and a group without other members make a folder safe.
 */
export function requireOwnPath(folder: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  visitPath(folder, (at, file) => {
    if (file === undefined) return 'stop';
    if (!isTrustedOwner(file.uid, user)) throw foreignFolderError(at, file.uid);
    if (canOthersReplaceEntries(file) && !isWritableByOwnGroupOnly(file, user))
      throw writableError(at, file, user, folder);
    return 'continue';
  });
}

/**
 * Throws `config_invalid` when another user can have written the open file, or put it into its folder: its mode lets others write,
 * or it belongs to another user, and the folder or one of its parents can be replaced.
 */
export function requireUnplanted(path: string, file: Stats): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (!isTrustedOwner(file.uid, user)) requireOwnFolder(dirname(path));
  if ((file.mode & 0o022) !== 0) throw writableError(path, file, user, 'the settings');
}

/**
 * The command after which the user can reach and change what a call of the operating system was refused, in backquotes; undefined
 * if another user has to allow it, or if the reason is another one.
 */
export function accessCommand(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES' && 'path' in error)) return undefined;
  const user = process.geteuid?.();
  let command: string | undefined;
  visitPath(String(error.path), (at, file) => {
    const isClosed = file?.isDirectory() === true && file.uid === user && (file.mode & 0o700) !== 0o700;
    if (isClosed) command = `\`chmod u+rwx ${quoteShellArg(at)}\``;
    const isClosedFile = file?.isFile() === true && file.uid === user && (file.mode & 0o600) !== 0o600;
    if (isClosedFile) command = `\`chmod u+rw ${quoteShellArg(at)}\``;
    return isClosed || file === undefined ? 'stop' : 'continue';
  });
  return command;
}

function foreignFolderError(folder: string, owner: number): CliError {
  return new CliError('config_invalid', `the folder ${folder} belongs to another user (uid ${owner})`, {
    hint: ownFoldersHint,
  });
}

const ownFoldersHint = 'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that you own';

function writableError(path: string, file: Stats, user: number, endangered: string): CliError {
  // A folder with the sticky bit, such as /tmp, is meant for all users.
  const isShared = file.isDirectory() && (file.mode & 0o1000) !== 0;
  const canChange = (file.uid === user || user === 0) && !isShared;
  const kind = file.isDirectory() ? 'folder' : 'file';
  return new CliError('config_invalid', `other users can write to the ${kind} ${path}`, {
    detail: `the mode of the ${kind} is 0${(file.mode & 0o7777).toString(8)}, so other users could replace ${endangered}`,
    hint: canChange
      ? checkFirst(kind === 'folder' ? 'files in the folder' : 'file', `chmod go-w ${quoteShellArg(path)}`)
      : 'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that only you can write to',
  });
}

function checkFirst(what: string, command: string): string {
  return `check the ${what}, then run \`${command}\``;
}

/**
 * Throws `config_invalid` unless the file could only have been written or replaced by the user or root: the file, each symbolic
 * link and each folder on its path belong to them, and no folder or file is writable for others. In a folder with the sticky bit,
 * such as /tmp, others cannot replace what belongs to the user.
 */
export function requireUserFile(path: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const refuse = (why: string, command?: string): never => {
    throw new CliError('config_invalid', `cannot run a command from ${path}: ${why}`, {
      detail: 'somebody else could have written the command',
      hint: command === undefined ? undefined : checkFirst('file', command),
    });
  };
  const isWhole = visitPath(path, (at, file) => {
    if (file === undefined) return refuse(`the owner of ${at} is not known`);
    if (!isTrustedOwner(file.uid, user))
      refuse(`${at} belongs to another user (uid ${file.uid})`, `chown -h ${user} ${quoteShellArg(at)}`);
    if (canOthersReplaceEntries(file)) refuse(`other users can write to ${at}`, `chmod go-w ${quoteShellArg(at)}`);
    return 'continue';
  });
  if (!isWhole) refuse('its path has too many symbolic links');
}

/** Whether users other than the owner can write to the file, or can replace what others have put into the folder. */
function canOthersReplaceEntries(file: Stats): boolean {
  const isSticky = file.isDirectory() && (file.mode & 0o1000) !== 0;
  return !file.isSymbolicLink() && !isSticky && (file.mode & 0o022) !== 0;
}

/**
 * Calls `visit` for each folder and symbolic link on the path, from the root on, and for the last part. The file is undefined if
 * it is missing or cannot be accessed; then nothing below it can be visited. Returns false if the path has too many links.
 */
function visitPath(path: string, visit: (at: string, file: Stats | undefined) => 'continue' | 'stop'): boolean {
  let at = parse(resolve(path)).root;
  let rest = resolve(path).slice(at.length).split(sep);
  if (visit(at, statIfPossible(at, lstatSync)) === 'stop') return true;
  for (let links = 0; rest.length > 0; ) {
    const [name = '', ...below] = rest;
    rest = below;
    // As the kernel does: `..` is the parent of the folder to which a link has led, not a part of the text.
    if (name === '..') at = dirname(at);
    if (name === '' || name === '.' || name === '..') continue;
    const next = join(at, name);
    const file = statIfPossible(next, lstatSync);
    if (visit(next, file) === 'stop' || file === undefined) return true;
    if (!file.isSymbolicLink()) at = next;
    else {
      links += 1;
      if (links > maxLinks) return false;
      const target = readlinkSync(next);
      if (target.startsWith(sep)) at = parse(target).root;
      rest = [...target.split(sep), ...below];
    }
  }
  return true;
}

const maxLinks = 40;

/**
 * The user or root. In a container without root rights (toolbox, Flatpak), the root of the machine has no number: the folders above
 * a home folder that is mounted from outside belong to the number for all owners without one.
 */
function isTrustedOwner(owner: number, user: number): boolean {
  if (owner === user || owner === 0) return true;
  const map = readIfPossible('/proc/self/uid_map')?.trim().split(/\s+/);
  const isEveryOwnerKnown = map === undefined || map.join(' ') === '0 0 4294967295';
  return !isEveryOwnerKnown && owner === Number(readIfPossible('/proc/sys/kernel/overflowuid') ?? Number.NaN);
}

/**
 * Whether the group that can write to the folder has no other member. Debian, Ubuntu and Fedora give each user such a group, and
 * folders that are created with the umask 002 are writable for it.
 */
function isWritableByOwnGroupOnly({ mode, gid }: Stats, user: number): boolean {
  if ((mode & 0o002) !== 0 || gid !== process.getegid?.()) return false;
  const groups = entriesOf('/etc/group').filter(([, , id]) => Number(id) === gid);
  const name = nameOfUser();
  const isOwn = groups.length === 0 ? gid === user : groups.every(([group]) => group === name);
  const members = groups.flatMap(([, , , list = '']) => list.split(','));
  const others = entriesOf('/etc/passwd').filter(([, , id, primary]) => Number(primary) === gid && Number(id) !== user);
  return isOwn && others.length === 0 && members.every((member) => member === '' || member === name);
}

/** A user without an entry in the password database has no name. */
function nameOfUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

function entriesOf(database: string): readonly (readonly string[])[] {
  const lines = readIfPossible(database)?.split('\n') ?? [];
  return lines.filter((line) => line !== '').map((line) => line.split(':'));
}

function readIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns undefined if the folder is missing or cannot be accessed; the caller's next access to the folder reports why. */
function statIfPossible(folder: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(folder);
  } catch {
    return undefined;
  }
}
