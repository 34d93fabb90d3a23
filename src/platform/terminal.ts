import { fstatSync, statSync } from 'node:fs';

/**
 * Whether the descriptor may be a terminal: every terminal is a character device, and so is /dev/null. Only the stream
 * of the process gives a certain answer, but creating the stream loads `net`, which takes a tenth of the start time of
 * Node. Each start calls this, so it is not in the file of the streams and their errors.
 */
export function maybeTerminal(descriptor: number): boolean {
  try {
    const status = fstatSync(descriptor);
    return status.isCharacterDevice() && status.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
  } catch {
    // The descriptor is closed; creating the stream of the process handles a closed descriptor.
    return true;
  }
}
