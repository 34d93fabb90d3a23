import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { findDatabase } from '../find-database.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { databaseOverviewQuery } from '../queries/database-overview.ts';
import { databasesQuery } from '../queries/databases.ts';
import { invalidUtf8TextsQuery } from '../queries/invalid-utf8-texts.ts';
import { pluralize } from '../units.ts';

/** Databases that exist on every managed target, with the encoding UTF8. */
const presetDatabases = ['defaultdb', 'postgres'];

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
      by: 'the data owner',
      text: `Correct the text that is not valid UTF-8, then move the data into a database created with ENCODING 'UTF8'.`,
    };
    if (rawTexts.length > 0) {
      return fail(['continuous', 'dump'], `${observed}; ${pluralize(rawTexts.length, 'schema text')} not valid UTF-8`, {
        required: 'a schema in valid UTF-8',
        detail: `The migration reads the schema as UTF-8, and the server rejects text that is not valid UTF-8: invalid byte sequence for encoding "UTF8". The copy then does not start.${unlistedNote(rawTexts)}`,
        objects: firstListedObjects(rawTexts).map(({ kind, shown }) => `${kind}: ${shown.slice(0, 60)}`),
        fix: {
          by: 'the owner of the schema',
          text: 'Rename objects and enum labels to valid UTF-8 (ALTER … RENAME, ALTER TYPE … RENAME VALUE) and rewrite comments, defaults, constraints and functions. Rows can keep their bytes if the migration creates the target database.',
        },
      });
    }
    if (presetDatabases.includes(database) && overview.tables > 0) {
      return fail(['continuous', 'dump'], observed, {
        required: 'UTF8',
        detail: `The target already has a database "${database}" with the encoding UTF8. Bytes that are not valid UTF-8 stop the copy: invalid byte sequence for encoding "UTF8": 0xff.`,
        fix,
      });
    }
    return warn(observed, {
      required: 'UTF8',
      detail:
        'The encoding SQL_ASCII accepts any bytes. A database that the migration creates on the target has the encoding SQL_ASCII too; in an existing UTF8 database the copy stops: invalid byte sequence for encoding "UTF8": 0xff.',
      fix,
    });
  },
});
