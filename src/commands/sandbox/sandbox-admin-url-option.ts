import type { OptionSpec } from '../../cli/command.ts';

/** The option `--admin-url` of the commands that call the admin API of a sandbox. */
export const sandboxAdminUrlOption: OptionSpec = {
  name: 'admin-url',
  valueName: 'URL',
  description: 'admin URL of the sandbox (default: the sandbox that was started last)',
};
