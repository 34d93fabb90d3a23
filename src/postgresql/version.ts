/**
 * Converts server_version_num to the major version in the same form: 150000 for 150018, 90600 for 90624. Major versions
 * in this form can be compared as numbers.
 * @param version server_version_num
 */
export function toMajorVersion(version: number): number {
  return version >= twoPartVersionsSince ? version - (version % 10_000) : version - (version % 100);
}

/** Formats server_version_num: `15.18` for 150018, `9.6.24` for 90624. */
export function formatVersion(version: number): string {
  const [first, second, third] = [Math.floor(version / 10_000), Math.floor(version / 100) % 100, version % 100];
  return version >= twoPartVersionsSince ? `${first}.${version % 10_000}` : `${first}.${second}.${third}`;
}

/** Formats the major version of server_version_num: `15` for 150018, `9.6` for 90624. */
export function formatMajorVersion(version: number): string {
  return formatVersion(version).replace(/\.\d+$/, '');
}

/**
 * The major version of a text such as `17`, `17.2`, `PostgreSQL 17` or `9.6`, in server_version_num form; undefined if
 * the text is not a version.
 */
export function parseMajorVersion(text: string): number | undefined {
  const found = /^(?:postgres(?:ql)?|pg|v)?[\s-]*(\d{1,3})(?:\.(\d{1,2}))?(?:\.\d{1,2})?$/i.exec(text.trim());
  if (found === null) return undefined;
  const [major, minor] = [Number(found[1]), found[2]];
  if (major >= 10) return major * 10_000;
  return minor === undefined ? undefined : major * 10_000 + Number(minor) * 100;
}

/** Since PostgreSQL 10 the major version is one number. */
const twoPartVersionsSince = 100_000;
