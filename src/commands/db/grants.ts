import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { accessSections, printGrants } from '../../db/cutover/index.ts';
import { sourceOptionSpecs } from '../../db/source/index.ts';

export const dbGrants: CommandSpec<CommandContext> = {
  description:
    'A migration copies rows, but not who may read them. When it has ended, run this command, read its output, and pass it to psql on the target. It compares owners, privileges, default privileges, settings, comments and roles of both servers, which it only reads, and prints the SQL that the target lacks; nothing if nothing differs.\n\nA statement that the login of the target cannot run, or that gives rights on the whole server, is a comment with the reason. Passwords are neither read nor printed: the roles that need one are listed with `\\password`. Objects of a superuser keep their owner on the target if views or functions would run with its rights.',
  options: [
    ...sourceOptionSpecs,
    {
      name: 'target',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME',
    },
    {
      name: 'section',
      valueName: 'SECTION',
      multiple: 'list',
      choices: accessSections,
      description: 'Only this part: roles, owners, grants, defaults or settings (repeatable)',
    },
    {
      name: 'allow-superuser-owners',
      description: 'Let superusers of the target own the objects that superusers of the source own',
    },
  ],
  examples: [
    {
      text: 'Give the target the owners and privileges of the source',
      command:
        'cloudctl db grants --source postgres://mover@db.example.com/shop --target "$TARGET" | PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql -X -v ON_ERROR_STOP=1 "$TARGET"',
    },
  ],
  fields: ['database', 'section', 'statement', 'left'],
  run: printGrants,
};
