import { pass, warn } from '../../finding.ts';
import { commands } from '../asks/commands.ts';
import { check } from '../check.ts';
import { unrename } from './psync-command.ts';

/** What engines ask for, and what is asked here. */
const expected = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommands = check({
  id: 'renamed-commands',
  title: 'no command was renamed that a migration uses',
  needs: 'entry',
  mayBlock: [],
  asks: { known: commands },
  judge({ known }) {
    const lacking = expected.filter((name) => !known.has(name)).map((name) => name.toUpperCase());
    if (lacking.length === 0) return pass(expected.map((name) => name.toUpperCase()).join(' '));
    return warn(`unknown to the server: ${lacking.join(', ')}`, {
      required: expected.map((name) => name.toUpperCase()).join(' '),
      detail: 'Tools that move data expect these commands under their own names.',
      objects: lacking,
      fix: unrename(lacking),
    });
  },
});
