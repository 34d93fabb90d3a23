import { decodeBoolean, decodeText } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome, skipOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import type { PostgresqlQuery } from '../query.ts';

interface PgoutputAvailability {
  readonly exists: boolean;
  /** The folders in which the server searches libraries, in the form of dynamic_library_path. */
  readonly path: string;
}

/**
 * Whether the library of pgoutput exists in a folder from which the server loads it; undefined if the role is not a
 * superuser, and so cannot list files.
 */
const pgoutputQuery: PostgresqlQuery<PgoutputAvailability | undefined> = {
  id: 'output-plugin',
  scope: 'server',
  sql: (version, { superuser }) =>
    version < 100_000 || !superuser
      ? undefined
      : `
        SELECT
          coalesce(
            bool_or((pg_stat_file(replace(d.folder, '$libdir', l.setting) || '/pgoutput' || s.suffix, true)).size IS NOT NULL),
            false
          ) AS found,
          current_setting('dynamic_library_path') AS path
        FROM (SELECT setting FROM pg_config() WHERE name = 'PKGLIBDIR') l
        CROSS JOIN unnest(
          string_to_array(
            current_setting('dynamic_library_path'),
            CASE WHEN version() ~ 'mingw|msvc|Visual C|windows' THEN chr(59) ELSE ':' END
          )
        ) d(folder)
        CROSS JOIN (VALUES ('.so'), ('.dylib'), ('.dll')) s(suffix)
      `,
  decode: ([row = {}]) => ({ exists: decodeBoolean(row, 'found'), path: decodeText(row, 'path') }),
  absent: undefined,
};

export const outputPluginCheck = declareServerCheck({
  id: 'output-plugin',
  title: 'the server can load the output plugin pgoutput',
  headline: 'The server cannot load the output plugin pgoutput',
  severity: { continuous: 'blocker' },
  queries: { plugin: pgoutputQuery },
  evaluate({ plugin }) {
    if (plugin === undefined) return skipOutcome('only a superuser can see the libraries of the server');
    if (plugin.exists) return passOutcome('found');
    return failOutcome(['continuous'], 'not found', {
      required: 'the library pgoutput in dynamic_library_path',
      detail: `A subscription uses the output plugin pgoutput, and its replication slot cannot be created without pgoutput: "could not access file "pgoutput": No such file or directory". The server searches in ${plugin.path === '' ? 'no folder: dynamic_library_path is empty' : plugin.path}.`,
      fix: {
        by: 'the operator of the server',
        text: 'If dynamic_library_path was changed, add $libdir to the setting (reload). Otherwise install the server package again, which contains pgoutput.',
      },
    });
  },
});
