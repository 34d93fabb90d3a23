import { quoteLiteral } from '../../../postgresql/quote.ts';
import { info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { databaseOverviewQuery } from '../queries/database-overview.ts';
import type { SourceSequence } from '../queries/sequences.ts';
import { countText } from '../units.ts';

export const sequencesCheck = databaseCheck({
  id: 'sequences',
  title: 'there are no sequences',
  queries: { overview: databaseOverviewQuery },
  evaluate({ overview }, _database, _ground, { method }) {
    if (overview.sequences === 0) return pass('none');
    const observed = countText(overview.sequences, 'sequence');
    if (method === 'dump') return info(observed, { detail: 'A dump carries their values over.' });
    return warn(observed, {
      required: 'none, or set at the cut-over',
      detail:
        'Rows are replicated and the values of sequences are not: on the target they begin anew, and the first INSERT says "duplicate key value violates unique constraint".',
      dataLoss: `the values of ${observed}`,
      fix: {
        by: 'who makes the cut-over',
        text: 'When the application has stopped writing and before it starts on the target, run what `cloudctl db sequences` prints there.',
      },
    });
  },
});

/** What the sequences of a database leave to do on the target. */
export interface SequenceScript {
  /** To be run on the target, in the database of the same name. */
  readonly statements: readonly string[];
  /** Names of sequences that this role may not read. */
  readonly hidden: readonly string[];
}

/**
 * The statements that set the target's sequences. One that was never called begins on the target where it began here, so it
 * needs none, unless somebody has moved it.
 */
export function sequenceScript(states: readonly SourceSequence[]): SequenceScript {
  return {
    statements: states.flatMap(({ name, value, called, start }) =>
      value === undefined || (!called && value === start)
        ? []
        : [`SELECT setval(${quoteLiteral(name)}, ${value}, ${called});`],
    ),
    hidden: states.filter(({ readable }) => !readable).map(({ name }) => name),
  };
}
