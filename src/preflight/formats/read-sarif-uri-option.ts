import { usageError } from '../../base/errors.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { shortenInputForError } from '../../cli/shorten-input-for-error.ts';

/**
 * The value of `--sarif-uri`: a relative reference (RFC 3986 §4.2), because code scanning looks for the file below the
 * root of the repository. Throws a CliError (exit 2) for any other value, and if no `--report` file is SARIF.
 */
export function readSarifUriOption(args: ParsedArgs): string | undefined {
  const uri = args.value('sarif-uri');
  if (uri === undefined) return undefined;
  if (!args.values('report').some((file) => file.toLowerCase().endsWith('.sarif')))
    throw usageError('--sarif-uri has no effect without a SARIF report', 'add `--report preflight.sarif`');
  if (!relativeReference.test(uri) || uri.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw usageError(
      `--sarif-uri is not a path relative to the root of the repository: ${shortenInputForError(uri)}`,
      'write it as in `--sarif-uri db/schema.sql`, with spaces as %20',
    );
  return uri;
}

/**
 * Segments of unreserved, percent-encoded and other allowed characters. A colon is not allowed, because it ends a
 * scheme.
 */
const relativeReference = /^(?:[\w.~!$&'()*+,;=@/-]|%[\dA-Fa-f]{2})+$/;
