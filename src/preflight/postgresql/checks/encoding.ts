import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { findDatabase } from '../find-database.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { databaseOverviewQuery } from '../queries/database-overview.ts';
import { databasesQuery } from '../queries/databases.ts';
import { invalidUtf8TextsQuery } from '../queries/invalid-utf8-texts.ts';
import { countText } from '../units.ts';

/** Databases that a managed target has from the beginning, in UTF8. */
const alreadyThere = ['defaultdb', 'postgres'];

export const encodingCheck = databaseCheck({
  id: 'encoding',
  title: 'the database encoding is supported by the target',
  headline: 'The database encoding is SQL_ASCII',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { databases: databasesQuery, overview: databaseOverviewQuery, rawTexts: invalidUtf8TextsQuery },
  evaluate({ databases, overview, rawTexts }, database) {
    const observed = findDatabase(databases, database)?.encoding ?? '';
    if (observed !== 'SQL_ASCII') return pass(observed);
    const fix = {
      by: 'who owns the data',
      text: `Find and mend the texts that are not UTF-8, and move them into a database made with ENCODING 'UTF8'.`,
    };
    if (rawTexts.length > 0) {
      return fail(
        ['continuous', 'dump'],
        `${observed}; ${countText(rawTexts.length, 'text')} of the schema without UTF-8`,
        {
          required: 'a schema in UTF-8',
          detail: `A schema is read as UTF-8, and the server refuses to write what is none: invalid byte sequence for encoding "UTF8". Nothing is copied then.${unlistedNote(rawTexts)}`,
          objects: firstObjects(rawTexts).map(({ kind, shown }) => `${kind}: ${shown.slice(0, 60)}`),
          fix: {
            by: 'the owner of the schema',
            text: 'Give names and labels in UTF-8 (ALTER … RENAME, ALTER TYPE … RENAME VALUE), and write comments, defaults, constraints and functions anew. Rows may keep their bytes, where the target database is made anew.',
          },
        },
      );
    }
    if (alreadyThere.includes(database) && overview.tables > 0) {
      return fail(['continuous', 'dump'], observed, {
        required: 'UTF8',
        detail: `The target has a database "${database}" already, in UTF8. Bytes that are not UTF-8 stop the copy: invalid byte sequence for encoding "UTF8": 0xff.`,
        fix,
      });
    }
    return warn(observed, {
      required: 'UTF8',
      detail:
        'SQL_ASCII takes any bytes. A database made anew on the target is SQL_ASCII too; in one that is there already, in UTF8, the copy stops: invalid byte sequence for encoding "UTF8": 0xff.',
      fix,
    });
  },
});
