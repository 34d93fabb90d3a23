import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { unusualRelationsQuery } from '../queries/relations.ts';

export const matviewsCheck = declareDatabaseCheck({
  id: 'matviews',
  title: 'the database has no materialized views',
  headline: 'The database has materialized views',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { relations: unusualRelationsQuery },
  evaluate({ relations: { matviews } }) {
    if (matviews.length === 0) return passOutcome('none');
    const empty = matviews.filter(({ populated }) => !populated);
    const [first] = matviews;
    const observed = countOf(matviews.length, 'materialized view');
    return warnOutcome(observed, {
      required: 'none, or a refresh at the cut-over',
      dataLoss: `the rows of ${observed}`,
      detail: `Rows of materialized views are not replicated: until a materialized view is refreshed, the target reports "materialized view … has not been populated".${empty.length === 0 ? '' : ` ${countOf(empty.length, 'of them is', 'of them are')} not populated on the source either.`}${unlistedNote(matviews)}`,
      objects: limitObjects(matviews).map(({ name, populated }) => (populated ? name : `${name} (not populated)`)),
      fix: {
        by: 'the operator of the cut-over',
        text: `At the cut-over, when the line materialized_views of \`cloudctl db cutover\` is open, run REFRESH MATERIALIZED VIEW ${first?.name} on the target${matviews.length === 1 ? '' : ', likewise for the others'}.`,
      },
    });
  },
});
