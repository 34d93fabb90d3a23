/**
 * Characters, besides the C0 controls, that are never printed unchanged: DEL and C1 controls, line separators, directional and
 * invisible characters (Unicode TR 36 and TR 39), noncharacters, and halves of a surrogate pair. Zero-width joiners are
 * printed, because emoji and several scripts need them. Every output format removes, replaces or escapes exactly these
 * characters.
 */
export const unprintableCharacters =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}\p{Surrogate}]/gu;

/** C0 control characters except tab and line feed. */
const controlCharacters = /[\u0000-\u0008\u000b-\u001f]/g;

/**
 * Replaces each unprintable character with U+FFFD, for text in which removing a character would change one name into another,
 * such as a statement.
 */
export function replaceUnprintable(text: string): string {
  return text.replace(controlCharacters, '\ufffd').replace(unprintableCharacters, '\ufffd');
}
