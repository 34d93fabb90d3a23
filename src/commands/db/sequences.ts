import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { printSequences } from '../../db/cutover/index.ts';
import { sourceOptionSpecs } from '../../db/source/index.ts';

export const dbSequences: CommandSpec<CommandContext> = {
  description:
    'Logical replication copies rows, but not the values of sequences. At the cut-over, after the application has stopped writing, run this command and pass its output to psql on the target, before the application starts there. The command only reads from the source.\n\nThe password of the source comes from PGPASSWORD or .pgpass. psql takes the password of the target from the same variable, so give it its own: `PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql …`.',
  options: sourceOptionSpecs,
  examples: [
    {
      text: 'Set the sequences of the target at the cut-over',
      command:
        'cloudctl db sequences --source postgres://mover@db.example.com/shop | PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql -X -v ON_ERROR_STOP=1 "$TARGET"',
    },
  ],
  fields: ['database', 'statement'],
  run: printSequences,
};
