import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import {
  encodedTextsQuery,
  type LaterKeywordUse,
  laterKeywordUsesQuery,
  removedFunctionsQuery,
} from '../queries/dump-options.ts';
import { targetVersionNumber } from '../source-facts.ts';

export const dumpOptionsCheck = declareDatabaseCheck({
  id: 'dump-options',
  title: 'the target version accepts a dump with the default options of pg_dump',
  headline: 'The target version rejects a dump with the default options of pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    keywordNames: laterKeywordUsesQuery,
    builtInGrants: removedFunctionsQuery,
    encodedTexts: encodedTextsQuery,
  },
  evaluate({ keywordNames, builtInGrants, encodedTexts: { encoding, objects: texts } }, database, _facts, options) {
    const target = targetVersionNumber(options);
    const concerns = ({ since }: { readonly since: number }) => target === undefined || since * 10_000 <= target;
    const names = keywordNames.filter(concerns);
    const privileges = builtInGrants.filter(concerns);
    const grants = privileges.map(({ signature }) => signature);
    const removed = privileges.find(({ role }) => role === undefined);
    const ofDropped = privileges.find(({ role }) => role !== undefined);
    if (names.length + grants.length + texts.length === 0) return passOutcome('yes');
    const named = [...new Set(names.map(({ object }) => object))];
    const objects = [...named, ...grants.map((signature) => `privileges on ${signature}`), ...texts];
    return {
      ...unknownOutcome(`${countOf(objects.length, 'object')}, and the options of the service are not known`),
      premise: `the service ${[
        ...(names.length === 0 ? [] : ['quotes all names (pg_dump --quote-all-identifiers)']),
        ...(grants.length === 0 ? [] : ['leaves out privileges (pg_dump --no-privileges)']),
        ...(texts.length === 0 ? [] : ['sets the encoding (pg_dump --encoding UTF8)']),
      ].join(' and ')}`,
      settledBy:
        names.length > 0
          ? 'ALTER … RENAME on the source'
          : grants.length > 0
            ? 'REVOKE or GRANT on the source'
            : 'ALTER … RESET client_encoding on the source',
      required: 'definitions that the target version reads as they are written',
      detail: [
        names.length === 0 ? '' : describeKeywords(names),
        removed === undefined
          ? ''
          : `The target version has no function ${removed.signature}, or a function of this name with other arguments: "function … does not exist".`,
        ofDropped === undefined
          ? ''
          : `The role that created an extension was dropped, and the initial privileges of its objects still have it, which a dump revokes: "role "${ofDropped.role}" does not exist".`,
        texts.length === 0
          ? ''
          : `New sessions of the role have client_encoding ${encoding}, in which pg_dump reads the listed names, comments or bodies: "character … has no equivalent in encoding "${encoding}"".`,
      ]
        .filter((text) => text !== '')
        .join(' ')
        .concat(unlistedNote(objects)),
      objects: limitObjects(objects),
      fix: {
        database,
        by: 'the owner of the objects, or a superuser',
        text: [
          ...(names.length === 0
            ? []
            : [
                'Rename the column, table or schema (ALTER … RENAME), or drop the function and create it with another name of the argument, and adapt the application.',
              ]),
          ...(grants.length === 0
            ? []
            : [
                'Restore the original privileges of the functions (GRANT EXECUTE … TO PUBLIC, or REVOKE), or drop the extension and create it again.',
              ]),
          ...(texts.length === 0
            ? []
            : [
                'Take the encoding back until the cut-over: ALTER DATABASE … RESET client_encoding, or ALTER ROLE … RESET client_encoding.',
              ]),
        ].join(' '),
      },
    };
  },
});

function describeKeywords(names: readonly LaterKeywordUse[]): string {
  const words = [...new Set(names.map(({ word, since }) => `${word.toUpperCase()} (PostgreSQL ${since})`))];
  const isUser = names.some(({ word }) => word === 'system_user');
  return `Newer releases have more keywords, and this server writes these names without quotation marks: ${words.join(', ')}. On the target the definition is a syntax error${isUser ? ', or uses the name of the user instead of the column system_user' : ''}.`;
}
