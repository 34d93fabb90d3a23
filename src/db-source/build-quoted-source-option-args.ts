import { quoteShellArg } from '../cli/shell-quote.ts';
import { buildSourceUrlWithoutPassword } from './build-source-url-without-password.ts';
import type { DbSource } from './read-source.ts';

/** Options of a command that are not part of its source. */
export interface MoreSourceOptions {
  readonly ignoreDbs?: readonly string[];
  readonly caFile?: string | undefined;
}

/** Options with which another command selects the same source, quoted for a shell, without the password. */
export function buildQuotedSourceOptionArgs(source: DbSource, more: MoreSourceOptions = {}): readonly string[] {
  return buildUnquotedSourceOptionArgs(source, more).map(quoteShellArg);
}

/** The same options without quotes, for a record. */
export function buildUnquotedSourceOptionArgs(
  source: DbSource,
  { ignoreDbs = [], caFile }: MoreSourceOptions,
): readonly string[] {
  const isPostgres = source.engine === 'postgresql';
  // `--ca-file` alone verifies the host name as well.
  const isVerifiedByOption = caFile !== undefined && isPostgres && source.source.verify?.what === 'full';
  const named = isVerifiedByOption
    ? { engine: source.engine, source: { ...source.source, verify: undefined } }
    : source;
  return [
    ...['--source', buildSourceUrlWithoutPassword(named)],
    ...(isPostgres && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
    ...(isPostgres && source.source.allowCleartextPassword === true ? ['--allow-cleartext-password'] : []),
    ...(ignoreDbs.length === 0 ? [] : ['--ignore-dbs', ignoreDbs.join(',')]),
  ];
}
