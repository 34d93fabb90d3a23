import { usage } from '../errors.ts';
import { readTextIfAny } from '../platform/files.ts';

/** The text of a file that the person named; undefined when there is no such file. One that cannot be read is a usage error. */
export function readInput(path: string): string | undefined {
  try {
    return readTextIfAny(path);
  } catch (error) {
    throw usage(
      `could not read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that you may read',
    );
  }
}
