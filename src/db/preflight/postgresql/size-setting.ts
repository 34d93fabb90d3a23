import type { PostgresqlServerSettings, PostgresqlSettingName } from './queries/settings.ts';
import { parsePostgresqlSize } from './units.ts';

export function getPostgresqlSizeSetting(settings: PostgresqlServerSettings, name: PostgresqlSettingName): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parsePostgresqlSize(found.value, found.unit) ?? 0);
}
