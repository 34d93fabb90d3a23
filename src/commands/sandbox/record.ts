import { adminClient } from '../../api/sandbox-admin.ts';
import { removeForeign, writeClientSecret } from '../../auth/session/index.ts';
import { CliError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { readConfig, writeProfile } from '../../config/config-file.ts';
import type { SettingKey } from '../../config/profile.ts';
import { forgetSandbox, knownSandboxes, recordSandbox, type SandboxPlace } from '../../config/sandboxes.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { limitedSender } from '../../platform/waiting.ts';

/**
 * Records the running sandbox, so that other commands find it. With `isOptional` (`--no-profile`) a missing or read-only home
 * folder is not an error; the result is then false.
 */
export function recordStart({ host, output }: CommandContext, ready: SandboxPlace, isOptional: boolean): boolean {
  try {
    recordSandbox(host.folders.state, ready);
    return true;
  } catch (error) {
    if (!isOptional) throw error;
    void output.warn(
      'this sandbox is not recorded; other commands need CLOUDCTL_SANDBOX_ADMIN_URL and CLOUDCTL_SANDBOX_ADMIN_TOKEN',
    );
    return false;
  }
}

/** Writes the profile `sandbox` as that of this one; returns the running sandbox whose profile it was. */
export async function takeProfile(context: CommandContext, ready: SandboxPlace): Promise<SandboxPlace | undefined> {
  const { folders } = context.host;
  const authUrl = readConfig(folders.config).profiles.get('sandbox')?.auth_url;
  const place = knownSandboxesIfReadable(folders.state).find(
    ({ auth_url }) => auth_url === authUrl && auth_url !== ready.auth_url,
  );
  const earlier = place !== undefined && (await isRunning(context, place)) ? place : undefined;
  await replaceProfile(context, ready);
  if (earlier !== undefined)
    await context.output.warn(
      `the profile "sandbox" is now that of this sandbox, and has no session of the other running one at ${earlier.auth_url}; it becomes that of the other again when this one ends`,
    );
  return earlier;
}

/**
 * Gives the profile `sandbox` back to the sandbox that had it, or to the last one that runs, if no other one has taken the profile.
 * What prevents it is a warning: the sandbox may have ended with an error of its own.
 */
export async function returnProfile(
  context: CommandContext,
  ready: SandboxPlace,
  earlier: SandboxPlace,
): Promise<void> {
  const { folders } = context.host;
  try {
    if (readConfig(folders.config).profiles.get('sandbox')?.auth_url !== ready.auth_url) return;
    for (const place of [earlier, ...knownSandboxesIfReadable(folders.state)])
      if (await isRunning(context, place)) return await replaceProfile(context, place);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await context.output.warn(`the profile "sandbox" was not given back to another running sandbox: ${error.message}`);
  }
}

/** A damaged record is an error of the step that writes it. */
function knownSandboxesIfReadable(state: string): readonly SandboxPlace[] {
  try {
    return knownSandboxes(state);
  } catch {
    return [];
  }
}

/** What the profile has from the sandbox that wrote it: its addresses and credentials. */
const ownSettings: readonly SettingKey[] = ['auth_url', 'base_url', 'client_id', 'callback_urls', 'token_command'];

/**
 * Writes the profile `sandbox`, which uses the file store so that no keychain is needed, and removes the session of an earlier
 * sandbox. Other settings of the profile are kept.
 */
async function replaceProfile(context: CommandContext, ready: SandboxPlace): Promise<void> {
  const binding = { authOrigin: ready.auth_url, baseOrigin: ready.base_url, clientId: ready.client_id };
  const values = {
    auth_url: ready.auth_url,
    base_url: ready.base_url,
    client_id: ready.client_id,
    ...(ready.callback_url === undefined ? {} : { callback_urls: [ready.callback_url] }),
    credential_store: 'file',
  } as const;
  const settings: ProfileSettings = {
    profileName: 'sandbox',
    profile: { name: 'sandbox', isDefault: false },
    isProfileStored: true,
    isProfileNamed: true,
    values,
    clientSecret: undefined,
    accessToken: undefined,
    isAccessTokenIgnored: false,
    storedBaseUrl: ready.base_url,
  };
  const store = await context.store(settings);
  const lock = await context.lock(store.place.lock);
  try {
    await removeForeign(store, binding, lock);
  } finally {
    lock.release();
  }
  await writeClientSecret(store, binding, new Secret(ready.client_secret));
  await context.changeConfig((config) => {
    const kept = Object.entries(config.profiles.get('sandbox') ?? {}).filter(
      ([key]) => !ownSettings.some((own) => own === key),
    );
    const profile = { scope: 'read write', ...Object.fromEntries(kept), ...values };
    writeProfile(context.host.folders.config, config, 'sandbox', profile);
  });
}

/** Time limit of a request in milliseconds; a sandbox on this machine responds faster. */
const responseLimitMs = 2000;

/**
 * Removes the records of sandboxes that no longer run (for example after `kill -9`), so that the last record is that of a
 * running sandbox.
 */
export async function forgetEnded(context: CommandContext): Promise<void> {
  const { state } = context.host.folders;
  for (const place of knownSandboxes(state)) {
    if (await isRunning(context, place)) return;
    forgetSandbox(state, place);
  }
}

async function isRunning(context: CommandContext, { admin_url, admin_token }: SandboxPlace): Promise<boolean> {
  const send = limitedSender(await context.send(), responseLimitMs);
  try {
    await adminClient(send, admin_url, admin_token).call('GET', '/clock');
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // A sandbox whose certificate this process does not trust is running.
    return error.code === 'tls';
  }
}
