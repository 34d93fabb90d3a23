import type { ServerSettings, SettingName } from './queries/settings.ts';
import { parseBytes } from './units.ts';

export function sizeSetting(settings: ServerSettings, name: SettingName): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parseBytes(found.value, found.unit) ?? 0);
}
