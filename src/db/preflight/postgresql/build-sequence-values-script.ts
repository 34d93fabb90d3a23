import { formatSingleLinePsqlStatement } from '../../../postgresql/psql-script.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { requoteQualifiedName } from '../../../postgresql/requote.ts';
import type { SourceSequence } from './queries/sequences.ts';

/** The SQL that sets the sequences of one database to their values on the target. */
export interface SequenceValuesScript {
  /** The statements must run on the target, in the database with the name of the source database. */
  readonly statements: readonly string[];
  /** Sequences that the role of the migration cannot read. */
  readonly hidden: readonly string[];
  /** Sequences whose value can be read only with a SELECT by the owner of the sequence. */
  readonly unused: readonly string[];
}

/**
 * Builds the statements that set the sequences on the target. A sequence that was never used or changed needs no
 * statement, because it starts on the target with the same value.
 */
export function buildSequenceValuesScript(states: readonly SourceSequence[]): SequenceValuesScript {
  const isReadable = ({ readable, value }: SourceSequence) =>
    readable && (value === undefined || /^-?\d{1,19}$/.test(value));
  return {
    statements: states
      .filter(isReadable)
      .flatMap(({ name, value, called, start }) =>
        value === undefined || (!called && value === start)
          ? []
          : (formatSingleLinePsqlStatement(
              `SELECT pg_catalog.setval(${quoteLiteral(requoteQualifiedName(name))}, ${value}, ${called})`,
            ) ?? []),
      ),
    hidden: states.filter((state) => !isReadable(state)).map(({ name }) => name),
    unused: states.filter(({ isUnused }) => isUnused).map(({ name }) => name),
  };
}
