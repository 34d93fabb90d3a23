import { fstatSync, statSync } from 'node:fs';

/**
 * Whether the descriptor may be a terminal: every terminal is a character device, and so is /dev/null. Creating the stream
 * of the process, which knows for certain, loads `net` and takes a tenth of a bare start of Node.
 */
export function isTerminalCandidate(descriptor: number): boolean {
  try {
    const status = fstatSync(descriptor);
    return status.isCharacterDevice() && status.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
  } catch {
    // A closed descriptor: the stream of the process handles that.
    return true;
  }
}
