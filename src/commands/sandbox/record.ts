import { adminClient } from '../../api/sandbox-admin.ts';
import { removeForeign, writeClientSecret } from '../../auth/session/index.ts';
import { CliError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { writeProfile } from '../../config/config-file.ts';
import { forgetSandbox, knownSandboxes, recordSandbox } from '../../config/sandboxes.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import { parseCallbackUrl } from '../../config/urls.ts';
import type { CommandContext } from '../../context.ts';
import { limitedSender } from '../../platform/waiting.ts';
import type { SandboxServers } from '../../sandbox/sandbox.ts';

type SandboxReady = SandboxServers['ready'];

/**
 * Records the running sandbox, so that other commands find it. With `isOptional` (`--no-profile`) a missing or read-only home
 * folder is not an error; the result is then false.
 */
export function recordStart({ host, output }: CommandContext, ready: SandboxReady, isOptional: boolean): boolean {
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

/**
 * Writes the profile `sandbox`, which uses the file store so that no keychain is needed, and removes the session of an earlier
 * sandbox.
 */
export async function replaceProfile(context: CommandContext, ready: SandboxReady): Promise<void> {
  const binding = { authOrigin: ready.auth_url, baseOrigin: ready.base_url, clientId: ready.client_id };
  const values = {
    auth_url: ready.auth_url,
    base_url: ready.base_url,
    client_id: ready.client_id,
    /**
     * A sandbox accepts a callback URL of another machine. A login of this program does not, because no redirect would
     * arrive.
     */
    ...(parseCallbackUrl(ready.callback_url).ok ? { callback_urls: [ready.callback_url] } : {}),
    credential_store: 'file',
    scope: 'read write',
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
  await context.changeConfig((config) => writeProfile(context.host.folders.config, config, 'sandbox', values));
}

/** Time limit of a request in milliseconds; a sandbox on this machine responds faster. */
const responseLimitMs = 2000;

/**
 * Removes the records of sandboxes that no longer run (for example after `kill -9`), so that the last record is that of a
 * running sandbox.
 */
export async function forgetEnded(context: CommandContext): Promise<void> {
  const { state } = context.host.folders;
  const send = limitedSender(await context.send(), responseLimitMs);
  for (const place of knownSandboxes(state)) {
    try {
      await adminClient(send, place.admin_url, place.admin_token).call('GET', '/clock');
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // A sandbox whose certificate this process does not trust is running.
      if (error.code === 'tls') return;
      forgetSandbox(state, place);
    }
  }
}
