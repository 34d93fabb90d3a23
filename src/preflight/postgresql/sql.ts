/** Quoting for statements that are shown to a person or written to a script; what is sent holds no names of theirs. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** With standard_conforming_strings a backslash stands for itself; one of the E kind says so whatever the setting. */
export function quoteLiteral(value: string): string {
  const doubled = value.replaceAll("'", "''");
  return value.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
