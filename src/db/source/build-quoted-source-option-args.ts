import { quoteShellArg } from '../../cli/shell-quote.ts';
import { buildSourceUrlWithoutPassword } from './build-source-url-without-password.ts';
import type { DbSource } from './read-source.ts';

/** Options of a suggested command in addition to those that describe the source. */
export interface SuggestedCommandAdditionalOptions {
  readonly ignoreDbs?: readonly string[];
  readonly caFile?: string | undefined;
}

/** Options with which another command selects the same source, quoted for a shell, without the password. */
export function buildQuotedSourceOptionArgs(
  source: DbSource,
  more: SuggestedCommandAdditionalOptions = {},
): readonly string[] {
  return buildUnquotedSourceOptionArgs(source, more).map(quoteShellArg);
}

/** The options of the source without quotes, for storing them as data and not as a shell command. */
export function buildUnquotedSourceOptionArgs(
  source: DbSource,
  { ignoreDbs = [], caFile }: SuggestedCommandAdditionalOptions,
): readonly string[] {
  const isPostgres = source.engine === 'postgresql';
  // `--ca-file` without `sslmode` also verifies the host name, so the URL needs no parameter for it.
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
