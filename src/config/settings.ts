import { CliError, usageError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { showInvisible } from '../base/text.ts';
import { isHomeUnset } from '../platform/folders.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import type { ConfigFile } from './config-file.ts';
import { isProfileName, isSettingKey, nameRule, type Profile, type SettingKey, settingSpecs } from './profile.ts';

/**
 * The resolved settings of this run. Precedence of settings: option > environment > profile > default. The profile is a setting
 * too: a profile that an option names precedes CLOUDCTL_ACCESS_TOKEN.
 */
export interface ProfileSettings {
  readonly profileName: string;
  readonly profile: ProfileReference;
  /** Whether config.json contains the selected profile. */
  readonly isProfileStored: boolean;
  /** Whether an option, a variable or `current` in config.json selected the profile; false for the built-in name `default`. */
  readonly isProfileNamed: boolean;
  /** Whether no variable names the home folder, as under cron, nor the folder of config.json. */
  readonly isHomeUnset?: boolean;
  readonly values: Profile;
  readonly clientSecret: Secret | undefined;
  /** The token of `CLOUDCTL_ACCESS_TOKEN`; undefined if the option `--profile` takes precedence over the variable. */
  readonly accessToken: Secret | undefined;
  /** Whether CLOUDCTL_ACCESS_TOKEN is set but not used, because the option `--profile` names a profile. */
  readonly isAccessTokenIgnored: boolean;
  /** The base_url of the profile in config.json, whatever options and variables say. */
  readonly storedBaseUrl: string | undefined;
}

/** The servers and the application to which a stored session belongs; the session is sent to no other servers. */
export interface Binding {
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** The servers and the application of a profile; undefined when the profile names no servers. */
export function findBinding(settings: Pick<ProfileSettings, 'values'>): Binding | undefined {
  // Without an application the client ID is empty, and the session can only be a token of `auth login --with-token`.
  const { auth_url: authOrigin, base_url: baseOrigin, client_id: clientId = '' } = settings.values;
  if (authOrigin === undefined || baseOrigin === undefined) return undefined;
  return { authOrigin, baseOrigin, clientId };
}

/** Where the access token of a command comes from. */
type AccessTokenSource = 'variable' | 'command' | 'session';

/** CLOUDCTL_ACCESS_TOKEN precedes the token command of the profile, which precedes its stored session. */
export function tokenSource({
  accessToken,
  values,
}: Pick<ProfileSettings, 'accessToken' | 'values'>): AccessTokenSource {
  if (accessToken !== undefined) return 'variable';
  return values.token_command === undefined ? 'session' : 'command';
}

/** What selected the profile: an option, a variable, `current` in config.json, or nothing, which selects `default`. */
export type ProfileSource = '--profile' | 'CLOUDCTL_PROFILE' | 'current' | 'default';

export function profileSource({ env, config, profile }: ProfileSettingsInput): ProfileSource {
  if (profile !== undefined) return '--profile';
  if (variableValue(env.CLOUDCTL_PROFILE) !== undefined) return 'CLOUDCTL_PROFILE';
  return config.current === undefined ? 'default' : 'current';
}

/** The name of a profile for messages, and for the commands that messages suggest. */
export interface ProfileReference {
  readonly name: string;
  /**
   * Whether a command without `--profile` selects this profile, because it is `current` in config.json or has the name
   * `default`. False if CLOUDCTL_PROFILE selected the profile, because the user may have set the variable for a single command.
   */
  readonly isDefault: boolean;
  /** True for a profile with two URLs and no application, whose only session is a token of `auth login --with-token`. */
  readonly isTokenOnly?: true;
  /** The variables that replace servers or the application of a stored profile, to which its session is then not sent. */
  readonly replacedBy?: readonly string[];
  /** The options that do so, each in backquotes. */
  readonly typedServers?: readonly string[];
}

/** The words that select the profile in a suggested command; empty if a command without `--profile` selects it. */
export function profileWords({ name, isDefault }: ProfileReference): readonly string[] {
  return isDefault ? [] : ['--profile', name];
}

/** Formats a command for this profile, in backquotes. */
export function commandFor(profile: ProfileReference, words: string): string {
  return `\`cloudctl ${[words, ...profileWords(profile)].join(' ')}\``;
}

/**
 * Adds the profile to the commands of a hint that act on a profile and name none: most errors do not know of profiles. Without
 * it such a command would act on another profile than the one that failed.
 */
export function nameProfile(hint: string, profile: ProfileReference): string {
  const option = profileWords(profile).join(' ');
  if (option === '') return hint;
  return hint.replaceAll(/`(cloudctl (\w+)(?: (\w+))?[^`]*)`/g, (whole, command: string, group: string, word = '') => {
    const isOfProfile = profileGroups.has(group) || profileGroups.has(`${group} ${word}`);
    if (!isOfProfile || /--profile\b/.test(command)) return whole;
    // What follows an operator of the shell, or `--`, is not read as an option of the command.
    return / (?:--|[|&;<>]+)(?: |$)/.test(command)
      ? `\`${command.replace(' ', ` ${option} `)}\``
      : `\`${command} ${option}\``;
  });
}

/** The groups, and commands of a group, that act on a profile which they do not name as an argument. */
const profileGroups: ReadonlySet<string> = new Set([
  ...['actions', 'api', 'config', 'db', 'doctor', 'droplets', 'open'],
  ...['login', 'logout', 'refresh', 'setup', 'status', 'token', 'whoami'].map((word) => `auth ${word}`),
]);

export function profileReference(
  name: string,
  env: ProcessEnvironment,
  config: Pick<ConfigFile, 'current'>,
): ProfileReference {
  const isSelected = variableValue(env.CLOUDCTL_PROFILE) === undefined && name === (config.current ?? 'default');
  return { name, isDefault: isSelected };
}

/** Settings that were given as options, by profile key. An error in such a setting names the option. */
export type TypedSettings = Readonly<Partial<Record<SettingKey, { readonly option: string; readonly text: string }>>>;

interface ProfileSettingsInput {
  readonly env: ProcessEnvironment;
  readonly config: ConfigFile;
  readonly profile?: string | undefined;
  readonly overrides?: TypedSettings;
}

/**
 * Resolves every setting. Throws a usage error that names the source of an invalid value. The function is synchronous, because
 * the fast path of `auth token` uses it.
 */
export function resolveSettings(input: ProfileSettingsInput): ProfileSettings {
  const named = input.profile ?? variableValue(input.env.CLOUDCTL_PROFILE) ?? input.config.current;
  const profileName = named ?? 'default';
  if (!isProfileName(profileName))
    throw usageError(
      `profile name "${showInvisible(profileName)}" is not valid`,
      'use a name such as `--profile work`',
      `a profile name is ${nameRule}`,
    );
  const stored = input.config.profiles.get(profileName);
  const values: [string, unknown][] = Object.entries(stored ?? {});
  for (const key of Object.keys(settingSpecs)) {
    if (!isSettingKey(key)) continue;
    const typed = input.overrides?.[key];
    const { variable, parse, example } = settingSpecs[key];
    const text = typed?.text ?? (variable === undefined ? undefined : variableValue(input.env[variable]));
    if (text === undefined) continue;
    const parsed = parse(text);
    if (!parsed.ok) {
      const written = typed === undefined ? `${variable}=${example}` : `${typed.option} ${example}`;
      throw usageError(`${typed?.option ?? variable} is ${parsed.reason}`, `use a value such as \`${written}\``);
    }
    values.push([key, parsed.value]);
  }
  const clientSecret = variableValue(input.env.CLOUDCTL_CLIENT_SECRET);
  const accessToken = variableValue(input.env.CLOUDCTL_ACCESS_TOKEN);
  if (accessToken !== undefined && !/^[\x21-\x7e]+$/.test(accessToken))
    throw usageError(
      'CLOUDCTL_ACCESS_TOKEN is not visible ASCII text',
      'set the variable to the access token alone, or use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`',
    );
  const isAccessTokenIgnored = accessToken !== undefined && input.profile !== undefined;
  // The parser of each key has checked its value, either here or when config.json was read.
  const resolved = Object.fromEntries(values) as Profile;
  return {
    profileName,
    profile:
      accessToken !== undefined && !isAccessTokenIgnored
        ? // `--profile` in a suggested command would replace the token of the variable.
          { name: profileName, isDefault: true }
        : {
            ...profileReference(profileName, input.env, input.config),
            ...tokenOnly(resolved),
            ...replacedBy(stored, input),
          },
    isProfileStored: stored !== undefined,
    isProfileNamed: named !== undefined,
    isHomeUnset: isHomeUnset(input.env),
    values: resolved,
    clientSecret: clientSecret === undefined ? undefined : new Secret(clientSecret),
    accessToken: accessToken === undefined || isAccessTokenIgnored ? undefined : new Secret(accessToken),
    isAccessTokenIgnored,
    storedBaseUrl: stored?.base_url,
  };
}

function tokenOnly({ auth_url, base_url, client_id }: Profile): Pick<ProfileReference, 'isTokenOnly'> {
  const isTokenOnly = auth_url !== undefined && base_url !== undefined && client_id === undefined;
  return isTokenOnly ? { isTokenOnly } : {};
}

function replacedBy(
  stored: Profile | undefined,
  { env, overrides }: ProfileSettingsInput,
): Pick<ProfileReference, 'replacedBy' | 'typedServers'> {
  const keys = ['auth_url', 'base_url', 'client_id'] as const;
  const typed = keys.flatMap((key) => {
    const { option, text = '' } = overrides?.[key] ?? {};
    const parsed = settingSpecs[key].parse(text);
    return option === undefined || (parsed.ok && parsed.value === stored?.[key]) ? [] : [`\`${option}\``];
  });
  const names = keys.flatMap((key) => {
    const { variable = '', parse } = settingSpecs[key];
    const text = variableValue(env[variable]);
    if (text === undefined || overrides?.[key] !== undefined || stored?.[key] === undefined) return [];
    const parsed = parse(text);
    return parsed.ok && parsed.value === stored[key] ? [] : [variable];
  });
  return {
    ...(names.length === 0 ? {} : { replacedBy: names }),
    ...(typed.length === 0 || stored === undefined ? {} : { typedServers: typed }),
  };
}

/** Throws `profile_unknown` if the user selected the profile by name but config.json does not contain it. */
export function requireNamedProfile(settings: ProfileSettings, config: ConfigFile, nearest: NearestWord): void {
  if (settings.isProfileStored || !settings.isProfileNamed) return;
  const names = [...config.profiles.keys()];
  const meant = nearest(settings.profileName, names);
  const unknown = `unknown profile "${settings.profileName}"`;
  // Under cron config.json is elsewhere, unless it has other profiles: then the name is mistyped.
  if (settings.isHomeUnset === true && meant === undefined)
    throw new CliError('profile_unknown', `${unknown}: HOME is not set`, {
      detail: `${config.path} has no such profile`,
      hint: 'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR, or HOME',
    });
  throw new CliError('profile_unknown', unknown, {
    detail: names.length === 0 ? `${config.path} has no profile` : `known profiles: ${names.join(', ')}`,
    // `cloudctl sandbox start` creates the profile `sandbox`.
    hint:
      settings.profileName === 'sandbox'
        ? 'start the sandbox: `cloudctl sandbox start`'
        : meant !== undefined
          ? `use the profile with a similar name: \`--profile ${meant}\``
          : `create the profile: \`cloudctl auth setup --profile ${settings.profileName}\``,
  });
}

/** Finds the known word that a word probably misspells. */
type NearestWord = (word: string, known: readonly string[]) => string | undefined;

/** Throws `profile_unknown` if config.json does not contain the profile. @param options.command the words before the name */
export function requireStored(
  config: ConfigFile,
  name: string,
  { command, nearest }: { readonly command: string; readonly nearest: NearestWord },
): void {
  if (config.profiles.has(name)) return;
  const names = [...config.profiles.keys()];
  const known = names.join(', ');
  const meant = nearest(name, names);
  throw new CliError('profile_unknown', `unknown profile "${showInvisible(name)}"`, {
    detail: known === '' ? 'config.json has no profile' : `known profiles: ${known}`,
    hint:
      known === ''
        ? `create the profile: \`cloudctl auth setup --profile ${name}\``
        : meant === undefined
          ? 'list the profiles: `cloudctl auth list`'
          : `use the profile with a similar name: \`cloudctl ${command} ${meant}\``,
  });
}

/**
 * The value of an environment variable without the final line break that a secret read from a file may have; undefined if it is
 * empty.
 */
export function variableValue(value: string | undefined): string | undefined {
  const text = value?.replace(/\r?\n$/, '');
  return text === '' ? undefined : text;
}
