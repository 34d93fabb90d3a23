/**
 * Whether the target lacks the library of a C function; undefined if the extensions of the target are not known. The
 * library is looked up by its file name, because the extension that installs a library usually has the same name.
 * @param library as in pg_proc: `$libdir/pgcrypto`
 */
export function isTargetLibraryMissing(
  library: string,
  targetExtensions: readonly string[] | undefined,
): boolean | undefined {
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
