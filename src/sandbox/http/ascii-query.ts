/**
 * Percent-encodes the characters that a browser would encode in a query, so that the query can stand in a Location header or
 * a form's action. Decodes nothing, so a second call changes nothing. The query is ASCII
 * already: Node rejects request targets with other bytes, and `localPath` rejects such paths.
 */
export function toAsciiQuery(query: string): string {
  return query.replace(/["#<>\\^`{|}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
