import { CliError } from '../../base/errors.ts';
import { isSettingKey, settingSpecs } from '../../config/profile.ts';
import { commandFor, type ProfileSettings, resolveSettings, type TypedSettings } from '../../config/settings.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { type Finding, failedFinding } from './finding.ts';

/**
 * A finding for each variable whose value is not valid, and the environment without these variables, with which the other checks
 * continue. A variable that an option overrides has no effect.
 */
export function checkVariables(
  env: ProcessEnvironment,
  overrides: TypedSettings,
): { readonly findings: readonly Finding[]; readonly valid: ProcessEnvironment } {
  const settings = Object.entries(settingSpecs).flatMap(([key, { variable }]) =>
    variable === undefined || (isSettingKey(key) && overrides[key] !== undefined) ? [] : [variable],
  );
  const config = { path: '', current: undefined, profiles: new Map(), raw: {} };
  const findings = ['CLOUDCTL_PROFILE', ...settings, 'CLOUDCTL_ACCESS_TOKEN'].flatMap((variable) => {
    try {
      resolveSettings({ env: { [variable]: env[variable] }, config });
      return [];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const finding = failedFinding(variable, error);
      return [finding.hint?.includes(variable) ? finding : { ...finding, hint: `\`unset ${variable}\`` }];
    }
  });
  const invalid = new Set(findings.map(({ id }) => id));
  return { findings, valid: Object.fromEntries(Object.entries(env).filter(([name]) => !invalid.has(name))) };
}

/** Whether the profile has every setting that a login needs, apart from the client secret. */
export function checkLoginProfile(settings: ProfileSettings): Finding {
  const { profileName, values } = settings;
  const needed = ['auth_url', 'base_url', 'client_id', 'callback_urls'] as const;
  const missing = needed.filter((key) => values[key] === undefined || values[key].length === 0);
  const observedUrls = `profile "${profileName}", auth_url ${values.auth_url}, base_url ${values.base_url}`;
  if (missing.join() === 'client_id,callback_urls')
    return {
      id: 'profile',
      status: 'ok',
      observed: `${observedUrls}, for access tokens of \`auth login --with-token\``,
    };
  if (missing.length > 0) {
    return {
      id: 'profile',
      status: 'failed',
      observed: `profile "${profileName}" has no ${missing.join(', no ')}`,
      hint: `complete the profile: \`cloudctl auth setup --profile ${profileName}\``,
    };
  }
  const observed = `${observedUrls}, flow ${values.flow ?? 'code'}, scope ${values.scope ?? 'read'}`;
  return { id: 'profile', status: 'ok', observed };
}

/** A profile with `token_command` needs only the API to which the token is sent. */
export function checkCommandProfile({ profileName, profile, values }: ProfileSettings): Finding {
  const id = 'profile';
  const { base_url, token_command: words = [] } = values;
  if (base_url === undefined)
    return {
      id,
      status: 'failed',
      observed: `profile "${profileName}" has no base_url`,
      hint: `store the origin of the resource API: ${commandFor(profile, 'config set base_url URL')}`,
    };
  // The arguments may hold a secret, and what doctor prints is shown to others.
  const observed = `profile "${profileName}", base_url ${base_url}, token_command ${words[0]}`;
  return { id, status: 'ok', observed };
}

/** In the code flow the application authenticates with its client secret (docs/service.md S5.2); the implicit flow uses no client secret. */
export function checkSecret(settings: ProfileSettings, known: 'variable' | 'stored' | 'missing'): Finding {
  const id = 'client-secret';
  if (settings.values.client_id === undefined)
    return { id, status: 'ok', observed: 'a profile without client_id needs no client secret' };
  if (settings.values.flow === 'implicit')
    return { id, status: 'ok', observed: 'the implicit flow needs no client secret' };
  if (known === 'variable') return { id, status: 'ok', observed: 'from CLOUDCTL_CLIENT_SECRET' };
  if (known === 'stored') return { id, status: 'ok', observed: 'in the credential store' };
  return {
    id,
    status: 'failed',
    observed: 'no client secret for this client_id and auth_url',
    hint: `store the client secret: \`cloudctl auth setup --profile ${settings.profileName}\``,
  };
}
