import { info, pass } from '../finding.ts';
import { relations } from './asks/relations.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const matviews = databaseCheck({
  id: 'matviews',
  title: 'there are no materialized views',
  asks: { relations },
  judge({ relations: { matviews } }) {
    if (matviews.length === 0) return pass('none');
    const empty = matviews.filter(({ populated }) => !populated);
    const [first] = matviews;
    return info(count(matviews.length, 'materialized view'), {
      detail: `Their rows are not replicated: until it is refreshed there, the target says "materialized view … has not been populated".${empty.length === 0 ? '' : ` ${empty.length} of them ${empty.length === 1 ? 'is' : 'are'} not populated here either.`}${unlisted(matviews)}`,
      objects: shown(matviews).map(({ name, populated }) => (populated ? name : `${name} (not populated)`)),
      fix: {
        by: 'who makes the cut-over',
        text: `On the target, after the copy: REFRESH MATERIALIZED VIEW ${first?.name}${matviews.length === 1 ? '' : ' and so on'}.`,
      },
    });
  },
});
