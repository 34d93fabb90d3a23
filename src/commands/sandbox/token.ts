import { CliError, usageError } from '../../base/errors.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { adminUrlOption } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';

export const sandboxToken: CommandSpec<CommandContext> = {
  description:
    'Prints an access token of the sandbox; with -o json the whole token response, including the refresh token. The command counts as an approval by that user.',
  options: [
    {
      name: 'user',
      valueName: 'EMAIL',
      description: 'user of the grant',
      completion: ['maya@example.com', 'tomas@example.com'],
    },
    {
      name: 'scope',
      valueName: 'SCOPE',
      description: 'scope of the grant: read or "read write" (default: read)',
      completion: ['read', 'read write'],
    },
    { name: 'team', valueName: 'TEAM', description: 'team of that user' },
    {
      name: 'client-id',
      valueName: 'ID',
      description: 'client ID of the application (default: the first one)',
    },
    adminUrlOption,
  ],
  examples: [
    {
      text: 'Use the token for one command',
      command:
        'CLOUDCTL_PROFILE=sandbox CLOUDCTL_ACCESS_TOKEN=$(cloudctl sandbox token --user maya@example.com) cloudctl droplets list',
    },
  ],
  fields: ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'info'],
  run: async (context, args) => {
    const user = args.value('user');
    if (user === undefined)
      throw usageError('missing option --user', 'pass a user; `cloudctl sandbox start` prints the users');
    const admin = await context.sandbox(args.value('admin-url'));
    const [scope, team, clientId] = ['scope', 'team', 'client-id'].map((name) => args.value(name));
    const grant = await admin.call('POST', '/tokens', {
      user,
      ...(scope === undefined ? {} : { scope }),
      ...(team === undefined ? {} : { team }),
      ...(clientId === undefined ? {} : { client_id: clientId }),
    });
    const accessToken = isJsonRecord(grant) ? readStringField(grant, 'access_token') : undefined;
    if (!isJsonRecord(grant) || accessToken === undefined)
      throw new CliError('api_error', 'could not parse the response of POST /tokens: it has no access token');
    if (context.output.format === 'table' && context.globals.values('format').length === 0)
      await context.output.text(accessToken);
    else {
      await context.output.object<JsonRecord>(grant, {
        columns: [
          { name: 'AccessToken', value: (row) => readStringField(row, 'access_token') },
          { name: 'RefreshToken', value: (row) => readStringField(row, 'refresh_token') },
          { name: 'ExpiresIn', value: (row) => readNumberField(row, 'expires_in') },
          { name: 'Scope', value: (row) => readStringField(row, 'scope') },
        ],
      });
    }
    return 0;
  },
};
