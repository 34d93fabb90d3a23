import { info, pass } from '../finding.ts';
import { columns } from './asks/columns.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const generatedColumns = databaseCheck({
  id: 'generated-columns',
  title: 'there are no generated columns',
  asks: { columns },
  judge({ columns: { generated } }) {
    if (generated.length === 0) return pass('none');
    const virtual = generated.filter((column) => column.virtual).length;
    const needed = virtual === 0 ? '' : ' Virtual ones need PostgreSQL 18 or newer on the target.';
    return info(`${generated.length - virtual} stored, ${virtual} virtual`, {
      detail: `They are not sent: the target computes them itself.${needed}${unlisted(generated)}`,
      objects: shown(generated).map(({ table, column }) => `${table}.${column}`),
    });
  },
});

export const identityColumns = databaseCheck({
  id: 'identity-columns',
  title: 'there are no identity columns',
  asks: { columns },
  judge({ columns: { identity } }) {
    if (identity.length === 0) return pass('none');
    return info(count(identity.length, 'column'), {
      detail: `Their values arrive; the sequences behind them do not and have to be set at the cut-over, as all sequences.${unlisted(identity)}`,
      objects: shown(identity),
    });
  },
});
