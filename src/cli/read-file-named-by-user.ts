import { usageError } from '../base/errors.ts';
import { readTextIfPresent } from '../platform/files.ts';

/**
 * Reads a file that was named on the command line; returns undefined when the file does not exist. Throws a usage error when
 * the file cannot be read.
 */
export function readFileNamedByUser(path: string): string | undefined {
  try {
    return readTextIfPresent(path);
  } catch (error) {
    throw usageError(
      `could not read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      'pass a file that you have permission to read',
    );
  }
}
