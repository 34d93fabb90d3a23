import { quoteLiteral } from '../../postgresql/quote.ts';
import type { SourceSequence } from './queries/sequences.ts';

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
