import type { Info } from '../../redis/info.ts';
import { commandLine } from '../../redis/quote.ts';
import type { Fix } from '../finding.ts';

/** Changes a setting of the running server, writes its file, and knows the way back to what was observed. */
export function setting(name: string, value: string, observed: string, info: Info, text: string): Fix {
  const keep = rewrite(info);
  return {
    sql: [commandLine('CONFIG', 'SET', name, value), ...keep],
    undo: [commandLine('CONFIG', 'SET', name, observed), ...keep],
    by: administrator,
    text: keep.length > 0 ? text : `${text} The server runs without a configuration file, so a restart forgets it.`,
  };
}

export const administrator = 'an administrator of the source';

/** A server without a file refuses CONFIG REWRITE. */
export function rewrite(info: Info): readonly string[] {
  return (info.get('config_file') ?? '') === '' ? [] : ['CONFIG REWRITE'];
}

/** What a user is given, and what it had. */
export interface Grant {
  readonly user: string;
  /** Of commands: `psync`. */
  readonly names: readonly string[];
  /** Keys of any name. */
  readonly allKeys?: boolean;
  /** The patterns of keys it had; undefined: not known. */
  readonly keysBefore?: readonly string[] | undefined;
  /** Some of the names may have been allowed before, so that no way back is known. */
  readonly guessed?: boolean;
  /** Empty when users stand in the configuration. */
  readonly aclFile: string;
  readonly info: Info;
  readonly text: string;
}

/** Lets a user do more. */
export function grant({ user, names, allKeys = false, keysBefore, guessed = false, aclFile, info, text }: Grant): Fix {
  const keep = aclFile === '' ? rewrite(info) : ['ACL SAVE'];
  const line = (sign: string, keys: readonly string[]) =>
    commandLine('ACL', 'SETUSER', user, ...names.map((name) => `${sign}${name}`), ...keys);
  const back = allKeys ? keysBefore && ['resetkeys', ...keysBefore] : [];
  const isKnown = back !== undefined && !guessed;
  return {
    sql: [line('+', allKeys ? ['~*'] : []), ...keep],
    ...(isKnown ? { undo: [line('-', back), ...keep] } : {}),
    by: administrator,
    text: isKnown ? text : `${text} Note what it had before: ${commandLine('ACL', 'GETUSER', user)}.`,
  };
}
