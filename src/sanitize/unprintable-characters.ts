/**
 * Characters besides the C0 controls that no output shows as they are: DEL and C1 controls, line separators, directional and
 * invisible characters (Unicode TR 36 and TR 39), noncharacters, halves of a surrogate pair. Zero-width joiners are not among
 * them: emoji and several scripts are written with them. Each output removes, replaces or escapes these, and nothing else.
 */
export const unprintableCharacters =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}\p{Surrogate}]/gu;

/** C0 controls, without tab and line feed. */
const controlCharacters = /[\u0000-\u0008\u000b-\u001f]/g;

/** Replaces each of these characters visibly, where a removed one would change a name into another, as in a statement. */
export function replaceUnprintable(text: string): string {
  return text.replace(controlCharacters, '\ufffd').replace(unprintableCharacters, '\ufffd');
}
