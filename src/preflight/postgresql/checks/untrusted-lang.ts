import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { restrictedFunctionsQuery, untrustedLanguagesQuery } from '../queries/restricted-functions.ts';
import { isLibraryMissing } from '../target-libraries.ts';
import { countText } from '../units.ts';

export const untrustedLangCheck = databaseCheck({
  id: 'untrusted-lang',
  title: 'no function uses an untrusted language',
  headline: 'A function or a language is untrusted',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { untrustedLanguages: untrustedLanguagesQuery, markedFunctions: restrictedFunctionsQuery },
  evaluate({ untrustedLanguages, markedFunctions }, _database, _ground, { targetExtensions }) {
    const functions = markedFunctions.filter(({ untrusted }) => untrusted !== undefined);
    if (untrustedLanguages.length + functions.length === 0) return pass('none');
    const languages = [
      ...new Set([...untrustedLanguages.map(({ name }) => name), ...functions.map(({ untrusted }) => untrusted ?? '')]),
    ];
    const [first = ''] = languages;
    const lost = untrustedLanguages.filter(
      ({ name, bare }) => bare && targetExtensions?.includes(name.toLowerCase()) === false,
    );
    const observed = `${languages.join(', ')}; ${countText(functions.length, 'function')}`;
    if (lost.length > 0) {
      return fail(['continuous', 'dump'], observed, {
        required: 'languages that the target has an extension for',
        detail: `No extension has made ${lost.map(({ name }) => name).join(', ')} here, so the restore asks for the extension of that name: "extension "${lost[0]?.name}" is not available".`,
        objects: lost.map(({ name }) => name),
        fix: {
          by: 'who owns the schema',
          text: `Where nothing needs it any more: ${lost.map(({ name }) => `DROP LANGUAGE "${name.replaceAll('"', '""')}"`).join('; ')}.`,
        },
      });
    }
    const coded = functions.flatMap(({ name, library }) => (library === undefined ? [] : [{ name, library }]));
    const gone = coded.filter(({ library }) => isLibraryMissing(library, targetExtensions) === true);
    if (gone.length > 0) {
      return fail(['continuous', 'dump'], observed, {
        required: 'libraries that the target has',
        detail: `Their code is in a file that no extension of the target brings, so that the schema cannot be made: "could not access file "${gone[0]!.library}": No such file or directory".${unlistedNote(gone)}`,
        objects: firstObjects(gone).map(({ name, library }) => `${name} (${library})`),
        fix: {
          by: 'who owns the schema',
          text: 'Put them in another language, or drop them and what needs them. Where the service has the library, add its extension to --target-extensions.',
        },
      });
    }
    return warn(observed, {
      required: 'trusted languages only, such as sql and plpgsql',
      detail: `A managed target has no superuser to make them: "language "${first}" does not exist" or "permission denied for language ${first}". The restore goes on, and they and what needs them are missing.${unlistedNote(functions)}`,
      objects: firstObjects(functions).map(({ name, untrusted }) => `${name} (${untrusted})`),
      fix: {
        by: 'who owns the schema',
        text: 'Rewrite the functions in a trusted language, or drop them and the language.',
      },
    });
  },
});
