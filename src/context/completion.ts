import type { CompletableName } from '../cli/stored-help.ts';
import { readConfig } from '../config/config-file.ts';
import { type KnownNames, readNames } from '../config/known-names.ts';
import { resolveSettings } from '../config/settings.ts';
import type { HostSystem } from '../platform/host.ts';
import { globalSettings } from './globals.ts';

/** Maps the name of a completion source (`droplet`) to the property of the cache that has its names (`droplets`). */
const cachedKinds: Readonly<Record<string, keyof KnownNames>> = {
  droplet: 'droplets',
  cluster: 'clusters',
  region: 'regions',
  size: 'sizes',
  image: 'images',
};

/**
 * The names that completion suggests, from files alone: profiles from config.json, checks from the program, and the
 * names that earlier commands of this profile have seen at its server. With an invalid configuration nothing is
 * suggested.
 */
export async function completionNames(
  host: Pick<HostSystem, 'env' | 'folders'>,
  from: string,
  typed: ReadonlyMap<string, string>,
): Promise<readonly CompletableName[]> {
  try {
    if (from === 'check') return await checkNames();
    const config = readConfig(host.folders.config);
    if (from === 'profile') return [...config.profiles.keys()].map((value) => ({ value }));
    const kind = Object.hasOwn(cachedKinds, from) ? cachedKinds[from] : undefined;
    if (kind === undefined) return [];
    const overrides = globalSettings({ value: (name) => typed.get(name) });
    const { profileName, values } = resolveSettings({
      env: host.env,
      config,
      profile: typed.get('profile'),
      overrides,
    });
    return readNames(host.folders.state, profileName, values.base_url)[kind];
  } catch {
    return [];
  }
}

async function checkNames(): Promise<readonly CompletableName[]> {
  const [{ postgresqlChecks }, { redisChecks }] = await Promise.all([
    import('../db/preflight/postgresql/checks.ts'),
    import('../db/preflight/redis/checks.ts'),
  ]);
  const titles = new Map([...postgresqlChecks, ...redisChecks].map(({ id, title }) => [id, title]));
  return [...titles].map(([value, description]) => ({ value, description }));
}
