import { createSandboxAdmin } from '../../api/sandbox.ts';
import { forgetSandboxPlace, readSandboxPlaces } from '../../config/sandbox.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { bounded } from '../../platform/bounded.ts';

/** Milliseconds in which a sandbox of this machine answers. */
const limit = 2000;

/** So that the sandbox known as the last one runs: those that ended without a word, as by `kill -9`, are forgotten. */
export async function forgetEnded(context: Context): Promise<void> {
  const { state } = context.host.folders;
  const send = bounded(await context.send(), limit);
  for (const place of readSandboxPlaces(state)) {
    try {
      await createSandboxAdmin(send, place.admin_url, place.admin_token).call('GET', '/clock');
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      forgetSandboxPlace(state, place);
    }
  }
}
