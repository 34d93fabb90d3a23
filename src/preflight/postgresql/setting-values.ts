import type { ServerSettings } from './queries/settings.ts';
import { parseBytes } from './units.ts';

export function sizeSetting(settings: ServerSettings, name: string): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parseBytes(found.value, found.unit) ?? 0);
}
