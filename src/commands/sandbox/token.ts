import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../../json.ts';

export const sandboxTokenCommand: CommandSpec<Context> = {
  description:
    'Prints an access token of the sandbox; with -o json the whole grant, refresh token included. It counts as the approval of that person.',
  options: [
    { name: 'user', valueName: 'EMAIL', description: 'the person the grant is for' },
    { name: 'scope', valueName: 'SCOPE', description: 'read or "read write" (read)' },
    { name: 'team', valueName: 'TEAM', description: 'under a team of that person' },
    {
      name: 'client-id',
      valueName: 'ID',
      description: 'the application the grant is for; the first one when left out',
    },
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [
    {
      text: 'Use it with any tool',
      command:
        'CLOUDCTL_ACCESS_TOKEN=$(cloudctl sandbox token --user maya@example.com) cloudctl --profile sandbox droplets list',
    },
  ],
  run: async (context, words) => {
    const user = words.value('user');
    if (user === undefined)
      throw usageError('--user is missing', '`cloudctl sandbox start` prints the people it knows');
    const admin = await context.sandbox(words.value('admin-url'));
    const [scope, team, clientId] = ['scope', 'team', 'client-id'].map((name) => words.value(name));
    const grant = await admin.call('POST', '/tokens', {
      user,
      ...(scope === undefined ? {} : { scope }),
      ...(team === undefined ? {} : { team }),
      ...(clientId === undefined ? {} : { client_id: clientId }),
    });
    const accessToken = isRecord(grant) ? stringField(grant, 'access_token') : undefined;
    if (!isRecord(grant) || accessToken === undefined)
      throw new CliError('api_error', 'the sandbox answered without a grant');
    if (context.output.format === 'table' && context.globals.values('format').length === 0)
      await context.output.text(accessToken);
    else {
      await context.output.object<JsonRecord>(grant, {
        columns: [
          { name: 'AccessToken', value: (row) => stringField(row, 'access_token') },
          { name: 'RefreshToken', value: (row) => stringField(row, 'refresh_token') },
          { name: 'ExpiresIn', value: (row) => numberField(row, 'expires_in') },
          { name: 'Scope', value: (row) => stringField(row, 'scope') },
        ],
      });
    }
    return 0;
  },
};
