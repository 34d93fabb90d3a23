import { isAtLeast, serverVersion } from '../../../redis/version.ts';
import { pass, warn } from '../../finding.ts';
import { maybe } from '../ask.ts';
import { commands } from '../asks/commands.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { unrename } from './psync-command.ts';

/** What engines ask for, and what is asked here. */
const expected = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommands = check({
  id: 'renamed-commands',
  title: 'no command was renamed that a migration uses',
  needs: 'entry',
  mayBlock: [],
  asks: { known: commands, server: maybe(info) },
  judge({ known, server }) {
    const version = server.kind === 'known' ? serverVersion(server.value) : undefined;
    const hasClusters = version === undefined || isAtLeast(version, 3, 0);
    const lacking = expected
      .filter((name) => !known.has(name) && (name !== 'cluster' || hasClusters))
      .map((name) => name.toUpperCase());
    if (lacking.length === 0) return pass('all of them are there');
    return warn(`unknown to the server: ${lacking.join(', ')}`, {
      required: expected.map((name) => name.toUpperCase()).join(' '),
      detail: 'Tools that move data expect these commands under their own names.',
      objects: lacking,
      fix: unrename(lacking, server),
    });
  },
});
