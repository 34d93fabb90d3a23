import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import {
  functionsNeedingSuperuserOrLocaleQuery,
  untrustedLanguagesQuery,
} from '../queries/superuser-created-functions.ts';
import { isTargetLibraryMissing } from '../target-libraries.ts';

export const untrustedLangCheck = declareDatabasePreflightCheck({
  id: 'untrusted-lang',
  title: 'no function uses an untrusted language',
  headline: 'A function or a language is untrusted',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { untrustedLanguages: untrustedLanguagesQuery, markedFunctions: functionsNeedingSuperuserOrLocaleQuery },
  evaluate({ untrustedLanguages, markedFunctions }, _database, _ground, { targetExtensions }) {
    const functions = markedFunctions.filter(({ untrusted }) => untrusted !== undefined);
    if (untrustedLanguages.length + functions.length === 0) return passOutcome('none');
    const languages = [
      ...new Set([...untrustedLanguages.map(({ name }) => name), ...functions.map(({ untrusted }) => untrusted ?? '')]),
    ];
    const [first = ''] = languages;
    const lost = untrustedLanguages.filter(
      ({ name, bare }) => bare && targetExtensions?.includes(name.toLowerCase()) === false,
    );
    const observed = `${languages.join(', ')}; ${countOf(functions.length, 'function')}`;
    if (lost.length > 0) {
      return failOutcome(['continuous', 'dump'], observed, {
        headline: 'The target does not provide a language',
        required: 'only languages that an extension of the target provides',
        detail: `${lost.map(({ name }) => name).join(', ')} was created without an extension, so the restore requires an extension of that name: "extension "${lost[0]?.name}" is not available".`,
        objects: lost.map(({ name }) => name),
        fix: {
          by: 'the schema owner',
          text: `If unused: ${lost.map(({ name }) => `DROP LANGUAGE "${name.replaceAll('"', '""')}"`).join('; ')}.`,
        },
      });
    }
    const coded = functions.flatMap(({ name, library }) => (library === undefined ? [] : [{ name, library }]));
    const missing = coded.filter(({ library }) => isTargetLibraryMissing(library, targetExtensions) === true);
    if (missing.length > 0) {
      return failOutcome(['continuous', 'dump'], observed, {
        headline: 'The target does not provide the library of a function',
        required: 'functions only in libraries that the target provides',
        detail: `The code of the listed functions is in a library that no extension of the target provides, so the schema cannot be restored: "could not access file "${missing[0]!.library}": No such file or directory".${buildUnlistedObjectsNote(missing)}`,
        objects: limitFindingObjects(missing).map(({ name, library }) => `${name} (${library})`),
        fix: {
          by: 'the schema owner',
          text: 'Rewrite the functions in another language, or drop them and the objects that depend on them. If the service provides the library, add the extension of the library to --target-extensions.',
        },
      });
    }
    return warnOutcome(observed, {
      required: 'trusted languages only, such as sql and plpgsql',
      detail: `Creating functions in an untrusted language requires a superuser, which a managed target does not have: "language "${first}" does not exist" or "permission denied for language ${first}". The restore continues without these functions and the objects that depend on them.${buildUnlistedObjectsNote(functions)}`,
      objects: limitFindingObjects(functions).map(({ name, untrusted }) => `${name} (${untrusted})`),
      fix: {
        by: 'the schema owner',
        text: 'Rewrite the functions in a trusted language, or drop them and the language.',
      },
    });
  },
});
