import { CliError, usageError } from '../errors.ts';
import type { Environment } from '../platform/host.ts';
import { Secret } from '../secret.ts';
import type { ConfigFile } from './config-file.ts';
import { isProfileKey, isProfileName, type Profile, type ProfileKey, profileKeys, profileNameRule } from './profile.ts';

/** What this run works with, after the one precedence: option > environment > profile > default. */
export interface ProfileSettings {
  readonly profileName: string;
  /** config.json holds this profile. */
  readonly isProfileStored: boolean;
  /** Somebody named it (option or variable), or it is the current one; false for the built-in name `default`. */
  readonly isProfileNamed: boolean;
  readonly values: Profile;
  readonly clientSecret: Secret | undefined;
  /** `CLOUDCTL_ACCESS_TOKEN`: used as it is; the credential store is not touched. */
  readonly accessToken: Secret | undefined;
}

/** Values typed as options, by profile key; `undefined` was not typed. The option's name is used in messages. */
export type SettingOverrides = Readonly<
  Partial<Record<ProfileKey, { readonly option: string; readonly text: string }>>
>;

export interface SettingsInput {
  readonly env: Environment;
  readonly config: ConfigFile;
  readonly profile?: string | undefined;
  readonly overrides?: SettingOverrides;
}

/** Resolves every setting. Wrong text is a usage error that names where it stood. Synchronous: it stands on the fast path. */
export function resolveSettings(input: SettingsInput): ProfileSettings {
  const named = input.profile ?? nonEmptyVariable(input.env.CLOUDCTL_PROFILE) ?? input.config.current;
  const profileName = named ?? 'default';
  if (!isProfileName(profileName))
    throw usageError(
      `profile name is not made of ${profileNameRule}`,
      'write it as in `--profile work`',
      `got "${profileName}"`,
    );
  const stored = input.config.profiles.get(profileName);
  const values: [string, unknown][] = Object.entries(stored ?? {});
  for (const key of Object.keys(profileKeys)) {
    if (!isProfileKey(key)) continue;
    const typed = input.overrides?.[key];
    const { variable, parse, example } = profileKeys[key];
    const text = typed?.text ?? (variable === undefined ? undefined : nonEmptyVariable(input.env[variable]));
    if (text === undefined) continue;
    const parsed = parse(text);
    if (!parsed.ok) {
      const written = typed === undefined ? `${variable}=${example}` : `${typed.option} ${example}`;
      throw usageError(`${typed?.option ?? variable} is ${parsed.reason}`, `write it as in \`${written}\``);
    }
    values.push([key, parsed.value]);
  }
  const clientSecret = nonEmptyVariable(input.env.CLOUDCTL_CLIENT_SECRET);
  const accessToken = nonEmptyVariable(input.env.CLOUDCTL_ACCESS_TOKEN);
  if (accessToken !== undefined && !/^[\x21-\x7e]+$/.test(accessToken))
    throw usageError(
      'CLOUDCTL_ACCESS_TOKEN is not visible ASCII',
      'set it to the access token alone: `export CLOUDCTL_ACCESS_TOKEN="$(cloudctl auth token)"`',
    );
  return {
    profileName,
    isProfileStored: stored !== undefined,
    isProfileNamed: named !== undefined,
    // Each entry went through its key's parser: here, or when the file was read.
    values: Object.fromEntries(values) as Profile,
    clientSecret: clientSecret === undefined ? undefined : new Secret(clientSecret),
    accessToken: accessToken === undefined ? undefined : new Secret(accessToken),
  };
}

/** A named profile that config.json does not hold is exit 2, unless the environment alone describes it. */
export function requireKnownProfile(settings: ProfileSettings, config: ConfigFile): void {
  if (settings.isProfileStored || !settings.isProfileNamed) return;
  const names = [...config.profiles.keys()];
  throw new CliError('profile_unknown', `profile "${settings.profileName}" is unknown`, {
    detail: names.length === 0 ? `${config.path} holds no profile yet` : `known profiles: ${names.join(', ')}`,
    hint: `\`cloudctl auth setup --profile ${settings.profileName}\``,
  });
}

/** A variable that is set to nothing counts as not set. */
export function nonEmptyVariable(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
