import { CliError } from '../errors.ts';
import { readKnownSandboxes, type SandboxConnectionDetails } from './sandbox-connection-details.ts';

/** Addresses of the control panel of a running sandbox. */
export interface ControlPanelUrls {
  readonly home: string;
  /** The page of a list named `droplets`, `migrations`, `applications`, `requests` or `timeline`. */
  page(name: string): string;
  droplet(id: string): string;
  migration(cluster: string): string;
}

/**
 * The pages of the control panel of this authorization server; undefined when it is not a sandbox of this machine: the
 * specification of the service names no address of its panel.
 */
export function findControlPanelUrls(
  stateFolder: string,
  authOrigin: string | undefined,
): ControlPanelUrls | undefined {
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
function readSandboxes(stateFolder: string): readonly SandboxConnectionDetails[] {
  try {
    return readKnownSandboxes(stateFolder);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
