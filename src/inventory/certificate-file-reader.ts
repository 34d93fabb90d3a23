import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { usageError } from '../base/errors.ts';

/** Bytes of a file with CA certificates: the bundles of operating systems have a quarter of that. */
const maxCertificateBytes = 1024 * 1024;

/**
 * Reads the files with CA certificates that lines of an inventory name, each once; returns undefined for a file that does not exist.
 * A device or a named pipe could be read without end. Throws a CliError (usage).
 */
export function createCertificateFileReader(): (path: string) => string | undefined {
  const texts = new Map<string, string | undefined>();
  return (path) => {
    if (!texts.has(path)) texts.set(path, readCertificateFile(path));
    return texts.get(path);
  };
}

function readCertificateFile(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK the program would wait for a writer of a named pipe.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw usageError('the CA file is not a regular file');
    if (found.size > maxCertificateBytes)
      throw usageError(`the CA file is larger than ${maxCertificateBytes / 1024 / 1024} MiB`);
    return readFileSync(descriptor, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw usageError(`could not read the CA file: ${String(error.code)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
