import { info, pass } from '../finding.ts';
import { relations } from './asks/relations.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const foreignTables = databaseCheck({
  id: 'foreign-tables',
  title: 'there are no foreign tables',
  asks: { relations },
  judge({ relations: { foreign } }) {
    if (foreign.length === 0) return pass('none');
    return info(count(foreign.length, 'table'), {
      detail: `Only their definitions move; the rows stay where they are. The target needs the extension of the foreign data wrapper, a way to the foreign server, and the passwords of the user mappings set again.${unlisted(foreign)}`,
      objects: shown(foreign),
    });
  },
});

export const tempTables = databaseCheck({
  id: 'temp-tables',
  title: 'there are no temporary tables',
  asks: { relations },
  judge({ relations: { temporary } }) {
    if (temporary.length === 0) return pass('none');
    return info(count(temporary.length, 'table'), {
      detail: `Temporary tables belong to a session and never move; the application makes them anew on the target.${unlisted(temporary)}`,
      objects: shown(temporary),
    });
  },
});
