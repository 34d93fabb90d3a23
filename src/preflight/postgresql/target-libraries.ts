/**
 * Whether a target lacks the library of a function in C; undefined: nobody knows which extensions it has. They bring their
 * libraries, mostly under their own names.
 * @param library as in pg_proc: `$libdir/pgcrypto`
 */
export function isLibraryMissing(
  library: string,
  targetExtensions: readonly string[] | undefined,
): boolean | undefined {
  const name = library.replace(/^\$libdir\//, '').replace(/\.(so|dylib|dll)$/, '');
  // A place on the machine of the source, or in a folder that was made there.
  if (/[\\/]/.test(name)) return true;
  if (serverLibraries.test(name)) return false;
  if (targetExtensions === undefined) return undefined;
  const extensions = [name, name.replace(/-\d+(\.\d+)*$/, ''), ...(extensionsByLibrary[name] ?? [])];
  return !extensions.some((extension) => targetExtensions.includes(extension));
}

/** Without an extension on every server. */
const serverLibraries = /^(plpgsql|dict_snowball|libpqwalreceiver|pgoutput|[a-z0-9]+(_[a-z0-9]+)*_and_[a-z0-9_]+)$/;

const extensionsByLibrary: Readonly<Record<string, readonly string[]>> = {
  _int: ['intarray'],
  pgxml: ['xml2'],
  plperl: ['plperl', 'plperlu'],
  pltcl: ['pltcl', 'pltclu'],
  plpython3: ['plpython3u'],
  plpython2: ['plpython2u', 'plpythonu'],
};
