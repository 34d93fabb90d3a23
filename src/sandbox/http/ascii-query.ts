/**
 * Percent-encodes the characters that a browser would encode in a query, so that the query can be used in a Location header or
 * in the action of a form. The function decodes nothing, so a second call changes nothing. The query contains only ASCII
 * characters, because Node rejects other bytes in request targets, and `localPath` rejects other characters in paths.
 */
export function toAsciiUrlQuery(query: string): string {
  return query.replace(/["#<>\\^`{|}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
