import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';

import {
  removedFunctionsWithChangedPrivilegesQuery,
  unquotedSystemUserKeywordUsesQuery,
} from '../queries/dump-options.ts';

import { getPostgresqlTargetVersion } from '../source-facts.ts';

export const dumpOptionsCheck = declareDatabasePreflightCheck({
  id: 'dump-options',
  title: 'the target version accepts a dump with the default options of pg_dump',
  headline: 'The target version rejects a dump with the default options of pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    systemUserNames: unquotedSystemUserKeywordUsesQuery,
    builtInGrants: removedFunctionsWithChangedPrivilegesQuery,
  },
  evaluate({ systemUserNames, builtInGrants }, database, _facts, options) {
    const target = getPostgresqlTargetVersion(options);
    const isReserved = target === undefined || target >= 160_000;
    const names = isReserved ? systemUserNames : [];
    const grants = builtInGrants
      .filter(({ since }) => target === undefined || since * 10_000 <= target)
      .map(({ signature }) => signature);
    if (names.length + grants.length === 0) return passOutcome('yes');
    const objects = [...names, ...grants.map((signature) => `privileges on ${signature}`)];
    return {
      ...unknownOutcome(`${countOf(objects.length, 'object')}, and the options of the service are not known`),
      premise: `the service ${[
        ...(names.length === 0 ? [] : ['quotes all names (pg_dump --quote-all-identifiers)']),
        ...(grants.length === 0 ? [] : ['leaves out privileges (pg_dump --no-privileges)']),
      ].join(' and ')}`,
      settledBy: names.length === 0 ? 'REVOKE or GRANT on the source' : 'ALTER … RENAME on the source',
      required: 'definitions that the target version reads as they are written',
      detail: [
        names.length === 0
          ? ''
          : 'SYSTEM_USER is a reserved word since PostgreSQL 16, and this server writes the name without quotation marks: on the target the definition is a syntax error, or uses the name of the user instead of the column.',
        grants.length === 0
          ? ''
          : `The target version has no function ${grants[0]}, or a function of this name with other arguments: "function … does not exist".`,
      ]
        .filter((text) => text !== '')
        .join(' ')
        .concat(buildUnlistedObjectsNote(objects)),
      objects: limitFindingObjects(objects),
      fix: {
        database,
        by: 'the owner of the objects, or a superuser',
        text: [
          ...(names.length === 0
            ? []
            : [
                'Rename the column, table or argument system_user (ALTER TABLE … RENAME COLUMN), and adapt the application.',
              ]),
          ...(grants.length === 0
            ? []
            : ['Restore the original privileges of the functions (GRANT EXECUTE … TO PUBLIC, or REVOKE).']),
        ].join(' '),
      },
    };
  },
});
