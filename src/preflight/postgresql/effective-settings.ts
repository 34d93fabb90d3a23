import type { RoleSetting } from './queries/role-settings.ts';
import type { ServerSettings, SettingName } from './queries/settings.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** What a new session of the role has in one database. */
export interface EffectiveSetting {
  readonly database: string;
  /** As written: `5min`, or a bare number in the setting's own unit. */
  readonly value: string;
  /** undefined: the value is the server's own. */
  readonly set: RoleSetting | undefined;
}

/**
 * The value a session of the role begins with, per database: what is glued to role and database wins over the role's, that
 * over the database's, that over what is for everybody, that over the server's.
 * @param usual what a server starts with
 */
export function effectiveSettings(
  name: SettingName,
  settings: ServerSettings,
  glued: readonly RoleSetting[],
  { dbname, databases }: Pick<PostgresqlSourceFacts, 'dbname' | 'databases'>,
  usual = '0',
): readonly EffectiveSetting[] {
  const own = settings.get(name);
  if (own === undefined) return [];
  const candidates = glued.filter((setting) => setting.name.toLowerCase() === name.toLowerCase());
  const winner = (database: string) =>
    candidates
      .filter((setting) => setting.database === undefined || setting.database === database)
      .toSorted((a, b) => rank(b) - rank(a))[0];
  // What our own session got that way hides the server's value.
  const server = winner(dbname) === undefined ? own.value : usual;
  return databases.map((database) => {
    const set = winner(database);
    return { database, value: set?.value ?? server, set };
  });
}

function rank({ role, database }: RoleSetting): number {
  return (role === undefined ? 0 : 2) + (database === undefined ? 0 : 1);
}
