/**
 * Percent-encodes the characters that a browser would encode in a query, so that the query can stand in a Location header or
 * a form's action. Decodes nothing, so a second call changes nothing. Node rejects targets with bytes beyond ASCII before.
 */
export function toAsciiQuery(query: string): string {
  return query.replace(/["#<>\\^`{|}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
