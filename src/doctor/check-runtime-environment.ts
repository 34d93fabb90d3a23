import type { RuntimeEnvironment } from '../platform/runtime-environment.ts';
import type { UnsafeVariable } from '../platform/unsafe-variable.ts';
import type { DoctorFinding } from './doctor-finding.ts';

export interface RuntimeFacts {
  readonly surroundings: RuntimeEnvironment;
  /** Somebody sits at this terminal. */
  readonly terminal: boolean;
  /** `BROWSER`, as it is set. */
  readonly browser: string | undefined;
  /** The platform's opener was found on the path. */
  readonly opener: boolean;
  readonly profile: string;
}

/** How the sign-in page will reach a person; a login never depends on it, since the address is always printed. */
export function checkBrowser({ surroundings, terminal, browser, opener, profile }: RuntimeFacts): DoctorFinding {
  const id = 'browser';
  const paste = `\`cloudctl auth login --paste${profile === 'default' ? '' : ` --profile ${profile}`}\``;
  const by = (observed: string, hint: string): DoctorFinding => ({ id, status: 'warning', observed, hint });
  if (surroundings.ci)
    return by('CI is set, so no browser is opened', 'open the printed address somewhere, or unset CI');
  if (!terminal) return by('this is no terminal, so no browser is opened', `open the printed address, or use ${paste}`);
  if (browser === 'none') return by('BROWSER=none', 'open the printed address by hand, or unset BROWSER');
  if (browser) return { id, status: 'ok', observed: 'the program in BROWSER opens the page' };
  if (!surroundings.display && !surroundings.wsl)
    return by('there is no graphical display', `open the printed address in a browser elsewhere, with ${paste}`);
  if (!opener)
    return by(
      'no program that opens pages was found',
      'install one (on Debian: `apt-get install xdg-utils`), or set BROWSER',
    );
  return { id, status: 'ok', observed: "the system's opener opens the page" };
}

/** Where this runs, as far as it decides how a browser comes back to this machine. */
export function checkRuntimeEnvironment({
  surroundings,
  profile,
}: Pick<RuntimeFacts, 'surroundings' | 'profile'>): DoctorFinding {
  const id = 'surroundings';
  const paste = `\`cloudctl auth login --paste${profile === 'default' ? '' : ` --profile ${profile}`}\``;
  const by = (observed: string, hint: string): DoctorFinding => ({ id, status: 'warning', observed, hint });
  if (surroundings.codespaces) return by('a codespace: its ports are not those of your machine', `use ${paste}`);
  if (surroundings.ssh !== undefined)
    return by(
      'an SSH session: the browser of your own machine does not reach this loopback interface',
      `use ${paste}, or forward the port; \`cloudctl auth login\` prints the \`ssh -L\` line`,
    );
  if (surroundings.container) return by('a container: a browser outside does not reach it', `use ${paste}`);
  if (surroundings.wsl)
    return { id, status: 'ok', observed: `WSL: if the browser of Windows cannot reach the last page, use ${paste}` };
  return { id, status: 'ok', observed: 'a machine of its own' };
}

/** Settings of the environment under which a login is refused, or goes another way than a person may think. */
export function checkEnvironmentVariables(
  hazard: UnsafeVariable | undefined,
  accessToken: boolean,
  proxies: readonly { readonly origin: string; readonly proxy: string }[],
): readonly DoctorFinding[] {
  const safe: DoctorFinding =
    hazard === undefined
      ? { id: 'environment', status: 'ok', observed: 'no variable prints or weakens requests' }
      : {
          id: 'environment',
          status: 'failed',
          observed: `${hazard.variable}=${hazard.value} ${hazard.why}`,
          hint: `\`unset ${hazard.variable}\``,
        };
  const token: readonly DoctorFinding[] = accessToken
    ? [
        {
          id: 'access-token',
          status: 'warning',
          observed: 'CLOUDCTL_ACCESS_TOKEN is set, so the stored session is not used',
          hint: '`unset CLOUDCTL_ACCESS_TOKEN`',
        },
      ]
    : [];
  const through = proxies.map(
    ({ origin, proxy }): DoctorFinding => ({
      id: 'proxy',
      status: 'ok',
      observed: `${origin} is reached through ${proxy}`,
    }),
  );
  return [safe, ...token, ...through];
}
