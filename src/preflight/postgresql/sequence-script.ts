import { psqlStatement } from '../../postgresql/psql-script.ts';
import { quoteLiteral } from '../../postgresql/quote.ts';
import { requoteQualifiedName } from '../../postgresql/requote.ts';
import type { SourceSequence } from './queries/sequences.ts';

/** The statements that set the sequences of one database on the target. */
export interface SequenceScript {
  /** To run on the target, in the database of the same name. */
  readonly statements: readonly string[];
  /** Sequences that this role cannot read. */
  readonly hidden: readonly string[];
  /** Sequences whose value only a SELECT of their owner returns. */
  readonly unused: readonly string[];
}

/**
 * The statements that set the sequences on the target. A sequence that was never used and never changed starts on the target
 * with the same value, so it needs none.
 */
export function sequenceScript(states: readonly SourceSequence[]): SequenceScript {
  const isReadable = ({ readable, value }: SourceSequence) =>
    readable && (value === undefined || /^-?\d{1,19}$/.test(value));
  return {
    statements: states
      .filter(isReadable)
      .flatMap(({ name, value, called, start }) =>
        value === undefined || (!called && value === start)
          ? []
          : (psqlStatement(
              `SELECT pg_catalog.setval(${quoteLiteral(requoteQualifiedName(name))}, ${value}, ${called})`,
            ) ?? []),
      ),
    hidden: states.filter((state) => !isReadable(state)).map(({ name }) => name),
    unused: states.filter(({ isUnused }) => isUnused).map(({ name }) => name),
  };
}
