/**
 * SQL that sets parameters for the session, and so overrides values stored for the role or the database. Parameters
 * that the server does not have are skipped, so that one query works for every PostgreSQL release. pg_settings has
 * names such as `DateStyle` in mixed case.
 * @param settings parameters by lower-case name; names and values are not escaped
 */
export function buildSetSessionSettingsQuery(settings: Readonly<Record<string, string>>): string {
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `
    SELECT set_config(s.name, w.value, false)
    FROM (VALUES ${values.join(', ')}) AS w (name, value)
    JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`;
}
