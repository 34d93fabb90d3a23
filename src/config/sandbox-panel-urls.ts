import { CliError } from '../base/errors.ts';
import { readKnownSandboxes, type SandboxUrlsAndCredentials } from './sandbox-urls-and-credentials.ts';

/** Addresses of the control panel of a running sandbox. */
export interface SandboxPanelUrls {
  readonly home: string;
  /** The URL of the panel page with the list `droplets`, `migrations`, `applications`, `requests` or `timeline`. */
  page(name: string): string;
  droplet(id: string): string;
  migration(cluster: string): string;
}

/**
 * The pages of the control panel of this authorization server; undefined when it is not a sandbox of this machine: the
 * rules of the service name no address of its panel (docs/service.md S6.5).
 */
export function findSandboxPanelUrls(
  stateFolder: string,
  authOrigin: string | undefined,
): SandboxPanelUrls | undefined {
  const sandbox = readSandboxes(stateFolder).find(({ auth_url }) => auth_url === authOrigin);
  if (sandbox === undefined || !URL.canParse(sandbox.panel_url)) return undefined;
  const home = new URL(sandbox.panel_url).href;
  if (!/^https?:/.test(home)) return undefined;
  const page = (name: string): string => `${home}/${name}`;
  return {
    home,
    page,
    droplet: (id) => `${page('droplets')}?droplet=${encodeURIComponent(id)}`,
    migration: (cluster) => `${page('migrations')}#cluster-${encodeURIComponent(cluster)}`,
  };
}

/** Reads the recorded sandboxes; the list is empty if the record is damaged. */
function readSandboxes(stateFolder: string): readonly SandboxUrlsAndCredentials[] {
  try {
    return readKnownSandboxes(stateFolder);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
