import { usageError } from '../errors.ts';
import { readTextIfPresent } from '../platform/files.ts';

/** The text of a file that the person named; undefined when there is no such file. One that cannot be read is a usage error. */
export function readInputFile(path: string): string | undefined {
  try {
    return readTextIfPresent(path);
  } catch (error) {
    throw usageError(
      `could not read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that you may read',
    );
  }
}
