import { usageError } from '../../base/errors.ts';
import { escapeUnprintable } from '../../base/sanitize.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { adminUrlOption } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';
import { writeAtomically } from '../../platform/files.ts';

export const sandboxSnapshot: CommandSpec<CommandContext> = {
  description:
    'Saves users, applications, sign-ins, authorizations, codes, tokens, droplets, actions, migrations and the virtual time as one JSON object; `cloudctl sandbox restore` restores them. The file contains every secret of the sandbox and has mode 0600.',
  arguments: [{ name: 'FILE', description: 'file to write; - is standard output', required: true, completion: 'file' }],
  options: [adminUrlOption],
  examples: [{ text: 'Save the state that tests start from', command: 'cloudctl sandbox snapshot logged-in.json' }],
  run: async (context, args) => {
    const [file = '-'] = args.positionals;
    const admin = await context.sandbox(args.value('admin-url'));
    const text = escapeUnprintable(JSON.stringify(await admin.call('GET', '/snapshot'), null, 2));
    if (file === '-') {
      await context.output.text(text);
      return 0;
    }
    try {
      writeAtomically(file, `${text}\n`);
    } catch (error) {
      throw usageError(
        `could not write ${file}: ${error instanceof Error ? error.message : String(error)}`,
        'pass a file in a folder that you can write to',
      );
    }
    await context.output.note(`The state of the sandbox was saved to ${file}, including its secrets.`);
    return 0;
  },
};
