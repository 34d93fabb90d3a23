/**
 * A raw query as it can stand in a Location header or a form's action. What a browser would encode is encoded, and nothing is
 * decoded, so a second pass changes nothing. Bytes a client sent unencoded arrive from node as Latin-1 characters.
 */
export function asciiQuery(raw: string): string {
  return raw.replace(/[^\x21-\x7e]|["#<>\\^`{|}]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}
