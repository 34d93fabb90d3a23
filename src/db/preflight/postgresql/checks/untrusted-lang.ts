import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import type { PreflightOptions } from '../../options.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { languagesQuery, superuserFunctionsQuery } from '../queries/privileges.ts';
import { describeMissingSuperuser, isTargetSuperuser } from '../target.ts';

/**
 * Whether the target lacks the library of a C function; undefined if the extensions of the target are not known. The
 * library is looked up by its file name, because the extension that installs a library usually has the same name.
 * @param library as in pg_proc: `$libdir/pgcrypto`
 */
export function lacksLibrary(library: string, targetExtensions: readonly string[] | undefined): boolean | undefined {
  const name = library.replace(/^\$libdir\//, '').replace(/\.(so|dylib|dll)$/, '');
  // The library is given as a path on the machine of the source.
  if (/[\\/]/.test(name)) return true;
  if (serverLibraries.test(name)) return false;
  if (targetExtensions === undefined) return undefined;
  const extensions = [name, name.replace(/-\d+(\.\d+)*$/, ''), ...(extensionsByLibrary[name] ?? [])];
  return !extensions.some((extension) => targetExtensions.includes(extension));
}

/** Names of the libraries that every server provides without an extension. */
const serverLibraries = /^(plpgsql|dict_snowball|libpqwalreceiver|pgoutput|[a-z0-9]+(_[a-z0-9]+)*_and_[a-z0-9_]+)$/;

const extensionsByLibrary: Readonly<Record<string, readonly string[]>> = {
  _int: ['intarray'],
  pgxml: ['xml2'],
  plperl: ['plperl', 'plperlu'],
  pltcl: ['pltcl', 'pltclu'],
  plpython3: ['plpython3u'],
  plpython2: ['plpython2u', 'plpythonu'],
};

export const untrustedLangCheck = declareDatabaseCheck({
  id: 'untrusted-lang',
  title: 'no function uses an untrusted language',
  headline: 'A function or a language is untrusted',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { untrustedLanguages: languagesQuery, markedFunctions: superuserFunctionsQuery },
  evaluate({ untrustedLanguages, markedFunctions }, _database, _facts, options) {
    const functions = markedFunctions.flatMap((one) =>
      one.untrusted === undefined ? [] : [{ ...one, untrusted: one.untrusted }],
    );
    const languages = [
      ...new Set([...untrustedLanguages.map(({ name }) => name), ...functions.map(({ untrusted }) => untrusted)]),
    ];
    if (languages.length === 0) return passOutcome('none');
    const observed = `${languages.join(', ')}; ${countOf(functions.length, 'function')}`;
    const extensions = options.target?.postgresql?.extensions;
    const provided = extensions === undefined ? undefined : [...extensions.keys()];
    const foreign = functions.flatMap(({ name, library }) =>
      library === undefined || lacksLibrary(library, provided) !== true ? [] : [{ name, library }],
    );
    if (foreign.length > 0)
      return failOutcome(['continuous', 'dump'], observed, {
        headline: 'The target does not provide the library of a function',
        required: 'functions only in libraries that the target provides',
        detail: `The code of the listed functions is in a library that no extension of the target provides, so the schema cannot be restored: "could not access file "${foreign[0]!.library}": No such file or directory".${unlistedNote(foreign)}`,
        objects: limitObjects(foreign).map(({ name, library }) => `${name} (${library})`),
        fix: {
          by: 'the schema owner',
          text: 'Rewrite the functions in another language, or drop them and the objects that depend on them.',
        },
      });
    const bare = untrustedLanguages.flatMap(({ name, bare: isBare }) => (isBare ? [name] : []));
    const objects = [
      ...bare.map((name) => `language ${name}`),
      ...functions.map(({ name, untrusted }) => `${name} (${untrusted})`),
    ];
    // The extension of a language is a subject of the check `extensions`.
    if (objects.length === 0) return passOutcome(`${languages.join(', ')}, in extensions`);
    const more = { objects: limitObjects(objects) };
    const rest = unlistedNote(objects);
    const { reason, remedy } = describeMissingSuperuser(options);
    if (!isTargetSuperuser(options))
      return failOutcome(['continuous', 'dump'], observed, {
        ...more,
        required: 'trusted languages only, such as sql and plpgsql',
        detail: `Only a superuser can create functions in an untrusted language, and ${reason}, even if it provides the language: "permission denied for language ${languages[0]}". The schema cannot be restored.${rest}`,
        fix: {
          by: 'the schema owner',
          text: `Rewrite the functions in a trusted language, or drop them and the language.${remedy}`,
        },
      });
    const lost = bare.filter((name) => !isLanguageProvided(name, options));
    if (lost.length > 0)
      return failOutcome(['continuous', 'dump'], observed, {
        headline: 'The target does not provide a language',
        required: 'only languages that an extension of the target provides',
        detail: `${lost.join(', ')} was created without an extension, so the restore requires an extension of that name: "extension "${lost[0]}" is not available".`,
        objects: lost,
        fix: {
          by: 'the schema owner',
          text: `If unused: ${lost.map((name) => `DROP LANGUAGE "${name.replaceAll('"', '""')}"`).join('; ')}.`,
        },
      });
    return warnOutcome(observed, {
      ...more,
      detail: `The login of the target is a superuser and can create these functions; their code then runs with the rights of the server. \`db rehearse\` creates them with --allow-superuser-objects.${rest}`,
    });
  },
});

function isLanguageProvided(name: string, { target }: PreflightOptions): boolean {
  const { languages, extensions } = target?.postgresql ?? {};
  return languages?.has(name) === true || extensions?.has(name) === true;
}
