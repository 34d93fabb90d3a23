import { createSandboxAdminApi } from '../../api/sandbox-admin.ts';
import { forgetSandbox, readKnownSandboxes } from '../../config/sandbox-connection.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { withRequestDeadline } from '../../platform/with-request-deadline.ts';

/** Milliseconds in which a sandbox of this machine answers. */
const responseLimitMs = 2000;

/** So that the sandbox known as the last one runs: those that ended without a word, as by `kill -9`, are forgotten. */
export async function forgetEndedSandboxes(context: Context): Promise<void> {
  const { state } = context.host.folders;
  const send = withRequestDeadline(await context.send(), responseLimitMs);
  for (const place of readKnownSandboxes(state)) {
    try {
      await createSandboxAdminApi(send, place.admin_url, place.admin_token).call('GET', '/clock');
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      forgetSandbox(state, place);
    }
  }
}
