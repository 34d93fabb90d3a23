import { keyspaceOf } from '../../../redis/info.ts';
import { fail, pass, warn } from '../../finding.ts';
import { maybe } from '../ask.ts';
import { databases } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';

/** What a managed cluster has, and every server by default. */
export const targetDatabases = 16;

export const databasesCount = check({
  id: 'databases-count',
  title: 'no database has a number the target lacks',
  needs: 'entry',
  mayBlock: every,
  asks: { server: info, setting: maybe(databases) },
  judge({ server, setting }) {
    const beyond = keyspaceOf(server).filter(({ index }) => index >= targetDatabases);
    const required = `keys in databases 0 to ${targetDatabases - 1} only`;
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return fail(every, beyond.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', '), {
        required,
        detail: `The target exits while it loads: \`FATAL: Data file was created with a server configured to handle more than ${targetDatabases} databases\`.`,
        objects: names,
        only: names,
        fix: {
          text: 'Move these keys to a database below 16 (SELECT, SCAN, MOVE key DB) and the applications with them, or raise databases on the target.',
        },
      });
    }
    if (setting.kind !== 'known') return unanswered(setting);
    const configured = Number(setting.value.get('databases') ?? targetDatabases);
    const used = `databases ${configured}, none with keys above ${targetDatabases - 1}`;
    if (configured <= targetDatabases) return pass(`databases ${configured}`);
    return warn(used, {
      required,
      detail:
        'A first write to one of those while the migration runs makes the target log `DB index is out of range`, and the key lands in its database 0, without an error to anybody.',
      fix: { text: 'Make sure that no application selects a database above 15 until the migration is over.' },
    });
  },
});
