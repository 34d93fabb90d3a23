import { isKnownScope } from '../../auth/oauth/index.ts';
import { usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { nearestWord, shortenInput } from '../../cli/values.ts';
import { writeProfile } from '../../config/config-file.ts';
import { forgetNames } from '../../config/known-names.ts';
import { type SettingKey, settingSpecs } from '../../config/profile.ts';
import { requireNamedProfile, variableValue } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { keyArgument, requireKey } from './get.ts';

export const configSet: CommandSpec<CommandContext> = {
  description:
    'Checks the value and writes it to config.json. Creates the profile only if it is the current profile; use `cloudctl auth setup` to create other profiles.',
  arguments: [
    keyArgument,
    {
      name: 'VALUE',
      description: 'value; separate several callback URLs with commas',
      required: true,
      completion: {
        by: {
          scope: ['read', 'read write'],
          flow: ['code', 'implicit'],
          token_params: ['query', 'body', 'basic'],
          pkce: ['true', 'false'],
          credential_store: ['keychain', 'file'],
          output: ['table', 'json', 'ndjson', 'yaml', 'csv'],
        },
      },
    },
  ],
  options: [{ name: 'any-scope', description: 'accept any value for scope, for servers with other scopes' }],
  examples: [
    { text: 'Store sessions in a file', command: 'cloudctl config set credential_store file' },
    {
      text: 'Set two callback URLs, tried in order',
      command: 'cloudctl config set callback_urls http://127.0.0.1:8765/callback,http://127.0.0.1:8766/callback',
    },
    {
      text: 'Take the access token from a program instead of a session',
      command: `cloudctl config set token_command '["ssh","-o","BatchMode=yes","broker","cloudctl","auth","token"]'`,
    },
  ],
  run: async (context, args) => {
    const key = requireKey(args.positionals[0]);
    const { parse, example } = settingSpecs[key];
    const parsed = parse(args.positionals[1] ?? '');
    if (!parsed.ok)
      throw usageError(
        `${key} is ${parsed.reason}`,
        `use a value such as in \`cloudctl config set ${key} ${example}\``,
      );
    const scope = args.positionals[1] ?? '';
    if (key === 'scope' && !isKnownScope(scope) && !args.has('any-scope'))
      throw usageError(
        `unknown scope "${shortenInput(scope)}"`,
        'use `cloudctl config set scope read` or `cloudctl config set scope "read write"`',
        'to set a scope of another kind of server, add --any-scope',
      );
    const settings = context.settings();
    requireNamedProfile(settings, context.config(), nearestWord);
    const name = settings.profileName;
    await context.changeConfig((config) =>
      writeProfile(context.host.folders.config, config, name, { ...config.profiles.get(name), [key]: parsed.value }),
    );
    // The cached names belong to the account of the earlier token.
    if (key === 'token_command') forgetNames(context.host.folders.state, name);
    await context.output.note(`${key} is set for profile ${name}.`);
    await warnOfVariable(context, key);
    return 0;
  },
};

/** The warning that a variable of this shell precedes the value that was just set or removed. */
export async function warnOfVariable(context: CommandContext, key: SettingKey): Promise<void> {
  const { variable } = settingSpecs[key];
  if (variable === undefined || variableValue(context.host.env[variable]) === undefined) return;
  await quietForJson(context).output.warn(
    `${variable} is set: commands still use its value for ${key}; run \`unset ${variable}\``,
  );
}
