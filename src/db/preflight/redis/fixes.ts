import { quoteShellArg } from '../../../base/text.ts';
import type { RedisInfo } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import type { FindingFix } from '../finding.ts';
import { type QueryResult, valueOr } from '../query.ts';

/** Changes a setting of the running server and its configuration file; the undo script restores `observed`. */
export function configSetFix(name: string, value: string, observed: string, info: RedisInfo, text: string): FindingFix {
  const rewrite = configRewriteCommands(info);
  return {
    sql: [formatCommand('CONFIG', 'SET', name, value), ...rewrite],
    undo: [formatCommand('CONFIG', 'SET', name, observed), ...rewrite],
    effects: [{ kind: 'setting', name, value }],
    by: redisAdministrator,
    text:
      rewrite.length > 0
        ? text
        : `${text} The server has no configuration file, so the setting is lost when it restarts.`,
  };
}

/** Marks the commands of a fix for review, because they affect applications that use the source. */
export function markForReview({ sql = [], undo = [], ...fix }: FindingFix): FindingFix {
  return { ...fix, review: sql, undoReview: undo };
}

export const redisAdministrator = 'an administrator of the source';

/**
 * Returns CONFIG REWRITE if the server has a configuration file. Without the file CONFIG REWRITE would fail, so the
 * result is empty.
 */
function configRewriteCommands(info: RedisInfo): readonly string[] {
  return (info.get('config_file') ?? '') === '' ? [] : ['CONFIG REWRITE'];
}

/** The ACL rules to grant to a user, and the rules that the user had. */
interface AclGrant {
  readonly user: string;
  /** Names of commands: `psync`. */
  readonly names: readonly string[];
  /** Whether the user is granted access to keys of any name. */
  readonly allKeys?: boolean;
  /** The key patterns that the user had before; undefined if they are not known. */
  readonly keysBefore?: readonly string[] | undefined;
  /** Whether some of the commands may have been allowed before; the fix then has no undo. */
  readonly isGuessed?: boolean;
  /** Path of the ACL file; empty if the users are in the configuration file. */
  readonly aclFile: string;
  readonly info: RedisInfo;
  readonly text: string;
}

/** The fix that grants commands and keys to a user with ACL SETUSER. */
export function aclGrantFix(request: AclGrant): FindingFix {
  const { user, names, allKeys = false, keysBefore, isGuessed = false, aclFile, info, text } = request;
  const save = aclFile === '' ? configRewriteCommands(info) : ['ACL SAVE'];
  const setUser = (sign: string, keys: readonly string[]) =>
    formatCommand('ACL', 'SETUSER', user, ...names.map((name) => `${sign}${name}`), ...keys);
  const keysToRestore = allKeys ? keysBefore && ['resetkeys', ...keysBefore] : [];
  const canUndo = keysToRestore !== undefined && !isGuessed;
  return {
    sql: [setUser('+', allKeys ? ['~*'] : []), ...save],
    ...(names.includes('info')
      ? { notSimulated: 'what INFO returns after the change is not known' }
      : { effects: [{ kind: 'acl', commands: names, allKeys }] }),
    ...(canUndo ? { undo: [setUser('-', keysToRestore), ...save] } : {}),
    by: redisAdministrator,
    text: canUndo ? text : `${text} Save the present ACL rules first: ${formatCommand('ACL', 'GETUSER', user)}.`,
  };
}

/** The fix that removes rename-command lines from redis.conf, which the server reads only when it starts. */
export function removeRenameFix(names: readonly string[], info: QueryResult<RedisInfo>): FindingFix {
  const configured = valueOr(info, undefined)?.get('config_file') ?? '';
  // The path of the configuration file comes from the server, so it is checked.
  const path = /^\/[\x20-\x7e]+$/.test(configured) ? configured : '/etc/redis/redis.conf';
  const [file, before] = [quoteShellArg(path), quoteShellArg(`${path}.before-migration`)];
  return {
    shell: [
      `cp -np ${file} ${before}`,
      ...names
        .filter((name) => /^[A-Za-z]+$/.test(name))
        .map((name) => `sed -i '/^ *rename-command  *${name} /Id' ${file}`),
    ],
    undoShell: [`cp -p ${before} ${file}`],
    restart: true,
    notSimulated: 'the fix changes the configuration file on the server',
    text: `Remove the rename-command lines for ${names.join(' and ')} from redis.conf and restart the server. If a provider runs the server, ask the provider for external replication; otherwise only a scan is possible.`,
  };
}
