import { createSandboxAdminClient } from '../../api/sandbox-admin.ts';
import { CliError } from '../../base/errors.ts';
import { forgetSandbox, readKnownSandboxes } from '../../config/sandbox-urls-and-credentials.ts';
import type { CommandContext } from '../../context.ts';
import { createHttpSenderWithRequestTimeout } from '../../platform/waiting.ts';

/** Time limit of a request in milliseconds; a sandbox on this machine responds faster. */
const responseLimitMs = 2000;

/**
 * Removes the records of sandboxes that no longer run (for example after `kill -9`), so that the last record is that of a
 * running sandbox.
 */
export async function forgetEndedSandboxes(context: CommandContext): Promise<void> {
  const { state } = context.host.folders;
  const send = createHttpSenderWithRequestTimeout(await context.send(), responseLimitMs);
  for (const place of readKnownSandboxes(state)) {
    try {
      await createSandboxAdminClient(send, place.admin_url, place.admin_token).call('GET', '/clock');
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // A sandbox whose certificate this process does not trust is running.
      if (error.code === 'tls') return;
      forgetSandbox(state, place);
    }
  }
}
