import type { RoleSetting } from './queries/role-settings.ts';
import type { PostgresqlServerSettings, PostgresqlSettingName } from './queries/settings.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** The value that a setting has in a new session of the role in one database. */
export interface EffectiveRoleSetting {
  readonly database: string;
  /** The value of the setting as it was stored: `5min`, or a bare number in the unit of the setting. */
  readonly value: string;
  /** The ALTER ROLE or ALTER DATABASE setting that the value comes from; undefined if it is the value of the server. */
  readonly set: RoleSetting | undefined;
}

/**
 * The value of a setting in new sessions of the role, for each database. ALTER ROLE … IN DATABASE overrides ALTER ROLE,
 * which overrides ALTER DATABASE, which overrides ALTER ROLE ALL, which overrides the configuration of the server.
 * @param defaultValue the built-in default, used where a setting of our own session hides the server's value
 */
export function computeEffectiveSettingPerDatabase(
  name: PostgresqlSettingName,
  settings: PostgresqlServerSettings,
  roleSettings: readonly RoleSetting[],
  { dbname, databases }: Pick<PostgresqlSourceFacts, 'dbname' | 'databases'>,
  defaultValue = '0',
): readonly EffectiveRoleSetting[] {
  const own = settings.get(name);
  if (own === undefined) return [];
  const winner = (database: string) => storedSetting(name, roleSettings, database);
  // A value set by ALTER ROLE or ALTER DATABASE for the session of this program hides the value of the server.
  const server = winner(dbname) === undefined ? own.value : defaultValue;
  return databases.map((database) => {
    const set = winner(database);
    return { database, value: set?.value ?? server, set };
  });
}

/**
 * The roles that ALTER ROLE … SET role and ALTER DATABASE … SET role store for new sessions of the role, for each
 * database that has such a value.
 */
export function listStoredRolePerDatabase(
  roleSettings: readonly RoleSetting[],
  { databases }: Pick<PostgresqlSourceFacts, 'databases'>,
): readonly EffectiveRoleSetting[] {
  return databases.flatMap((database) => {
    const set = storedSetting('role', roleSettings, database);
    return set === undefined ? [] : [{ database, value: set.value, set }];
  });
}

function storedSetting(name: string, roleSettings: readonly RoleSetting[], database: string): RoleSetting | undefined {
  return roleSettings
    .filter((setting) => setting.name.toLowerCase() === name.toLowerCase())
    .filter((setting) => setting.database === undefined || setting.database === database)
    .toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank({ role, database }: RoleSetting): number {
  return (role === undefined ? 0 : 2) + (database === undefined ? 0 : 1);
}
