/**
 * A raw query as it can stand in a Location header or a form's action: what a browser would encode is encoded, and nothing is
 * decoded, so a second pass changes nothing. Bytes beyond ASCII never come here, because node refuses such a target.
 */
export function toAsciiQuery(raw: string): string {
  return raw.replace(/["#<>\\^`{|}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
