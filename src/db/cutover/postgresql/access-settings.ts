import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { AccessCatalog, Setting } from './access-catalog.ts';
import type { AccessStatement } from './access-statements.ts';
import type { TargetLogin } from './target-login.ts';

interface SettingOptions {
  /** Whether settings of roles in all databases are compared too. */
  readonly withRoles: boolean;
  /** Why the login of the target may not change the database; undefined: it may. */
  readonly ofDatabase: string | undefined;
}

/**
 * The settings of the database and of the roles, its connection limit and its comment. A setting that only the target has is
 * reset: a role or database that is read-only there cannot be switched to.
 */
export function compareSettings(
  source: AccessCatalog,
  target: AccessCatalog,
  login: TargetLogin,
  { withRoles, ofDatabase }: SettingOptions,
): readonly AccessStatement[] {
  const statements: AccessStatement[] = [];
  const add = (sql: string, left: string | undefined, isMinor = false) => {
    statements.push({ section: 'settings', sql, isMinor, ...(left === undefined ? {} : { left }) });
  };
  const database = quoteIdentifier(source.database);
  const scope = ({ role, isOfDatabase }: Setting): string => {
    if (role !== undefined) return `ROLE ${quoteIdentifier(role)}${isOfDatabase ? ` IN DATABASE ${database}` : ''}`;
    return isOfDatabase ? `DATABASE ${database}` : 'ROLE ALL';
  };
  const reset = (one: Setting) => `ALTER ${scope(one)} RESET ${quoteIdentifier(one.name)}`;
  const lacks = ({ role, isOfDatabase }: Setting): string | undefined => {
    if (role !== undefined)
      return target.roles.has(role) || login.created.has(role)
        ? login.lacksForRole(role, undefined)
        : `the target has no role ${role}`;
    if (isOfDatabase) return ofDatabase;
    return login.isSuperuser ? undefined : 'only a superuser may set it';
  };
  /** Why a setting is not set without a look at it. */
  const review = ({ role, name }: Setting): string | undefined => {
    if (loadingSettings.has(name)) return 'it loads code or changes the role of a session: to be reviewed';
    if (role !== undefined && target.roles.get(role)?.isPowerful === true)
      return 'the role is a superuser of the target: to be reviewed';
    const context = target.parameters.get(name);
    if (context === undefined && !name.includes('.')) return 'the target has no such parameter';
    return context === 'superuser' && !login.isSuperuser ? 'only a superuser may set it' : undefined;
  };

  const there = new Map(target.settings.map((one) => [keyOfSetting(one), one.value]));
  for (const one of source.settings) {
    const { role, isOfDatabase, name, value } = one;
    if (!isOfDatabase && !withRoles) continue;
    if (role !== undefined && source.roles.get(role)?.isBuiltIn === true && !target.roles.has(role)) continue;
    const isEqual = there.get(keyOfSetting(one)) === value;
    if (isEqual && isFence(one)) add(reset(one), 'no session could write: to be reviewed');
    if (isEqual) continue;
    const left = isFence(one) ? fenceReview : review(one);
    const set = `ALTER ${scope(one)} SET ${quoteIdentifier(name)} TO ${settingValue(name, value)}`;
    add(set, left ?? lacks(one), left !== undefined);
  }

  const wanted = new Set(source.settings.map(keyOfSetting));
  for (const one of target.settings) {
    const { role, isOfDatabase } = one;
    if (wanted.has(keyOfSetting(one)) || (!isOfDatabase && (role === undefined || !withRoles))) continue;
    // The service sets what its own roles need.
    const known = role === undefined ? undefined : source.roles.get(role);
    if (role !== undefined && (known === undefined || known.isBuiltIn || role === target.login)) continue;
    add(reset(one), lacks(one));
  }

  const { connectionLimit, comment } = source;
  if (connectionLimit >= -1 && connectionLimit !== target.connectionLimit) {
    const isClosed = connectionLimit === 0;
    const sql = `ALTER DATABASE ${database} CONNECTION LIMIT ${connectionLimit}`;
    add(sql, isClosed ? fenceReview : ofDatabase, isClosed);
  }
  if (comment !== undefined && comment !== target.comment)
    add(`COMMENT ON DATABASE ${database} IS ${quoteLiteral(comment)}`, ofDatabase, true);
  return statements;
}

function keyOfSetting({ role, isOfDatabase, name }: Setting): string {
  return JSON.stringify([role ?? null, isOfDatabase, name]);
}

/** A database that is read-only for everybody: the application that switches to the target could not write either. */
function isFence({ role, name, value }: Setting): boolean {
  return role === undefined && name === 'default_transaction_read_only' && /^(on|[ty1])/i.test(value);
}

const fenceReview = 'it keeps writers out, as the fence of `db cutover` on the source does: to be reviewed';

/** GUC_LIST_QUOTE in guc_tables of PostgreSQL: the value is a list of names, each a constant of its own. */
const listSettings: ReadonlySet<string> = new Set([
  'search_path',
  'temp_tablespaces',
  'session_preload_libraries',
  'shared_preload_libraries',
  'local_preload_libraries',
  'unix_socket_directories',
]);

/** They load code, or change as whom a session runs. */
const loadingSettings: ReadonlySet<string> = new Set([
  'session_preload_libraries',
  'local_preload_libraries',
  'dynamic_library_path',
  'extension_control_path',
  'role',
  'session_authorization',
  'session_replication_role',
  'allow_system_table_mods',
]);

function settingValue(name: string, value: string): string {
  if (!listSettings.has(name)) return quoteLiteral(value);
  const parts = value.match(/"(?:[^"]|"")*"|[^,\s][^,]*/g) ?? [''];
  return parts
    .map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.trim()))
    .map(quoteLiteral)
    .join(', ');
}
