import { countOf } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import type { PreflightOptions } from '../../options.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { superuserObjectsQuery } from '../queries/privileges.ts';
import { isMigrationPublication, type Publication, publicationsQuery } from '../queries/replication.ts';
import { describeMissingSuperuser, isTargetSuperuser } from '../target.ts';

export const superuserObjectsCheck = declareDatabaseCheck({
  id: 'superuser-objects',
  title: 'no object needs a superuser of the target',
  headline: 'Only a superuser of the target can create some objects',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { superuserObjects: superuserObjectsQuery, publications: publicationsQuery },
  evaluate({ superuserObjects, publications }, database, _facts, options) {
    if (superuserObjects.length === 0) return judgePublications(publications, options);
    const observed = countOf(superuserObjects.length, 'object');
    const objects = limitObjects(superuserObjects);
    const rest = unlistedNote(superuserObjects);
    if (isTargetSuperuser(options))
      return warnOutcome(observed, {
        detail: `The login of the target is a superuser and can create these objects; code of the source may then run as a superuser. \`db rehearse\` creates them with --allow-superuser-objects.${rest}`,
        objects,
      });
    const { reason, remedy } = describeMissingSuperuser(options);
    return failOutcome(['continuous', 'dump'], observed, {
      required: 'only objects that the owner of a database can create',
      detail: `Only a superuser can create these objects, and ${reason}, so the schema cannot be restored: "permission denied" or "must be superuser to create" for ${superuserObjects[0]}.${rest}`,
      objects,
      fix: {
        database,
        by: 'the owner of the schema',
        text: `Drop the objects, or replace them by an extension that the target provides.${remedy}`,
      },
    });
  },
});

/** No object needs a publication, so the engine of the sandbox leaves it out; a restore that stops at an error does not. */
function judgePublications(publications: readonly Publication[], { target }: PreflightOptions): CheckOutcome {
  const found = publications.filter(
    ({ name, allTables, inSchema }) => (allTables || inSchema === true) && !isMigrationPublication(name),
  );
  if (found.length === 0 || target?.postgresql?.isSuperuser !== false) return passOutcome('none');
  return {
    ...unknownOutcome(countOf(found.length, 'publication of all tables', 'publications of all tables')),
    premise: 'the migration continues without the publications FOR ALL TABLES or FOR TABLES IN SCHEMA',
    settledBy: '--accept superuser-objects',
    detail: `Only a superuser can create a publication FOR ALL TABLES or FOR TABLES IN SCHEMA, and ${target.postgresql.login} is none on the target: the migration stops, or continues without the publication.`,
    objects: limitObjects(
      found.map(({ name, allTables }) => `${name} (${allTables ? 'FOR ALL TABLES' : 'FOR TABLES IN SCHEMA'})`),
    ),
    fix: { text: 'Drop the publications before the migration, and create them on the target later.' },
  };
}
