import { CliError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { adminUrlOption, decodePlace, lastSandbox, type SandboxPlace } from '../../config/sandboxes.ts';
import { variableValue } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

export const sandboxEnv: CommandSpec<CommandContext> = {
  description:
    'Prints `export` lines for a POSIX shell that select the sandbox that was started last, or the one of --admin-url. The lines contain the client secret and the admin token of the sandbox, which no other server accepts.',
  options: [adminUrlOption],
  examples: [{ text: 'Use the sandbox in this shell', command: 'eval "$(cloudctl sandbox env)"' }],
  run: async (context, args) => {
    const place = await readConnection(context, args.value('admin-url'));
    if (place === undefined)
      throw new CliError('not_found', 'no sandbox is running', { hint: 'start a sandbox: `cloudctl sandbox start`' });
    const variables = [
      ['PROFILE', 'sandbox'],
      ['AUTH_URL', place.auth_url],
      ['BASE_URL', place.base_url],
      ['CLIENT_ID', place.client_id],
      ['CLIENT_SECRET', place.client_secret],
      ['CALLBACK_URL', place.callback_url],
      ['CREDENTIAL_STORE', 'file'],
      ['SANDBOX_ADMIN_URL', place.admin_url],
      ['SANDBOX_ADMIN_TOKEN', place.admin_token],
    ];
    await context.output.text(
      variables
        .flatMap(([name, value]) => (value === undefined ? [] : `export CLOUDCTL_${name}=${shellQuoted(value)}`))
        .join('\n'),
    );
    return 0;
  },
};

async function readConnection(
  context: CommandContext,
  adminUrl: string | undefined,
): Promise<SandboxPlace | undefined> {
  const { env, folders } = context.host;
  if (adminUrl === undefined && variableValue(env.CLOUDCTL_SANDBOX_ADMIN_URL) === undefined)
    return lastSandbox(folders.state);
  return decodePlace(await (await context.sandbox(adminUrl)).call('GET', '/world'));
}

function shellQuoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
