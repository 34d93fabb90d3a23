import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { writeAtomically } from '../../platform/files.ts';

export const sandboxSnapshotCommand: CommandSpec<Context> = {
  description:
    'People, applications, sign-ins, authorizations, codes, tokens, droplets, actions, migrations and the virtual time, as one JSON object; `cloudctl sandbox restore` brings them back. It holds every secret of the sandbox, so the file is for you alone (0600).',
  arguments: [{ name: 'FILE', description: 'where to; - is standard output', required: true, completion: 'file' }],
  options: [
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [{ text: 'Remember a state that tests begin with', command: 'cloudctl sandbox snapshot logged-in.json' }],
  run: async (context, words) => {
    const [file = '-'] = words.positionals;
    const admin = await context.sandbox(words.value('admin-url'));
    const text = JSON.stringify(await admin.call('GET', '/snapshot'), null, 2);
    if (file === '-') {
      await context.output.text(text);
      return 0;
    }
    try {
      writeAtomically(file, `${text}\n`);
    } catch (error) {
      throw usageError(
        `could not write ${file}: ${error instanceof Error ? error.message : String(error)}`,
        'name a file in a folder you may write to',
      );
    }
    await context.output.note(`The state of the sandbox is in ${file}; it holds its secrets.`);
    return 0;
  },
};
