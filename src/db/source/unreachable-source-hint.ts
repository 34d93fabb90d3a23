import { clientSideDatabaseErrorCodes } from '../../platform/connect-error.ts';
import {
  buildQuotedSourceOptionArgs,
  type SuggestedCommandAdditionalOptions,
} from './build-quoted-source-option-args.ts';
import type { DbSource } from './read-source.ts';

/**
 * What the user does about a source that cannot be connected to. The command has only options that preflight takes.
 * @param code the code of the failed connection, as in DatabaseConnectError
 */
export function unreachableSourceHint(
  source: DbSource,
  code: string | undefined,
  more: SuggestedCommandAdditionalOptions = {},
): string {
  if (code === clientSideDatabaseErrorCodes.noTls) {
    return source.engine === 'postgresql'
      ? 'the source does not support SSL: add `--disable-ssl`, or enable SSL on the source'
      : 'the source does not support TLS: write its address with redis:// instead of rediss://';
  }
  return `find the cause with \`${['cloudctl db preflight', ...buildQuotedSourceOptionArgs(source, more)].join(' ')}\``;
}
