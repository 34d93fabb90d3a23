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

/** Lets a user do more. `aclFile` is empty when users stand in the configuration. */
export function grant(user: string, names: readonly string[], aclFile: string, info: Info, text: string): Fix {
  const keep = aclFile === '' ? rewrite(info) : ['ACL SAVE'];
  return {
    sql: [commandLine('ACL', 'SETUSER', user, ...names.map((name) => `+${name}`)), ...keep],
    undo: [commandLine('ACL', 'SETUSER', user, ...names.map((name) => `-${name}`)), ...keep],
    by: administrator,
    text,
  };
}
