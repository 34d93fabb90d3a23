import { countOf } from '../../../base/text.ts';
import { requoteQualifiedName, requoteSignature } from '../../../postgresql/requote.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { buildQueryRowRemovalFixEffect } from '../../fix-effect.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import {
  type FunctionAddedByAlterExtension,
  functionsAddedByAlterExtensionQuery,
} from '../queries/functions-added-by-alter-extension.ts';

export const addedExtensionMembersCheck = declareDatabasePreflightCheck({
  id: 'added-members',
  title: 'no function was added to an extension',
  headline: 'A function was added to an extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { added: functionsAddedByAlterExtensionQuery },
  evaluate({ added }, database) {
    if (added.length === 0) return passOutcome('none');
    const needed = added.filter(({ user }) => user !== undefined);
    const named = needed.length > 0 ? needed : added;
    const more = {
      required: 'functions that the scripts of the extension create',
      detail: `A dump does not contain the members of an extension: CREATE EXTENSION creates them on the target, and the scripts of the extension do not create these functions. ${needed.length === 0 ? 'These functions are missing on the target without an error.' : `Objects that need these functions cannot be created: "function … does not exist".`}${buildUnlistedObjectsNote(named)}`,
      objects: limitFindingObjects(named).map(
        ({ signature, extension, user }) => `${signature} (${extension}${user === undefined ? '' : `, ${user}`})`,
      ),
      fix: {
        review: named.map(statement('DROP')),
        undoReview: named.map(statement('ADD')),
        effects: [buildQueryRowRemovalFixEffect(functionsAddedByAlterExtensionQuery, named)],
        database,
        by: 'the owner of the extension, or a superuser',
        text: 'Remove the functions from the extension (ALTER EXTENSION … DROP FUNCTION). They continue to exist, and a dump then contains them.',
      },
    };
    const observed = countOf(named.length, 'function');
    return needed.length > 0 ? failOutcome(['continuous', 'dump'], observed, more) : warnOutcome(observed, more);
  },
});

const statement =
  (verb: 'ADD' | 'DROP') =>
  ({ extension, signature }: FunctionAddedByAlterExtension): string =>
    `ALTER EXTENSION ${requoteQualifiedName(extension)} ${verb} FUNCTION ${requoteSignature(signature)}`;
