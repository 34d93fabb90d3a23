/** The known word of which `word` is probably a misspelling or an abbreviation; undefined if there is none. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(typed, candidate.toLowerCase());
    const longest = Math.max(typed.length, candidate.length);
    // `app` and `api` are two words, `ap` and `pai` are slips.
    const isOtherWord = longest <= 3 && typed.length === candidate.length && !isSwap(typed, candidate.toLowerCase());
    if (distance < bestDistance && distance <= 3 && 3 * distance <= longest && !isOtherWord) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? (typed.length < 2 ? undefined : known.find((candidate) => isAbbreviation(typed, candidate)));
}

/** Finds the known word that `word` probably misspells, with stricter rules than `nearestWord`, for places where any word is valid. */
export function likelyIntendedWord(word: string, known: readonly string[]): string | undefined {
  if (!/^[a-z]{2,}$/i.test(word)) return undefined;
  const typed = word.toLowerCase();
  return known.find((candidate) => {
    const allowed = candidate.length < 6 ? 1 : 2;
    return editDistance(typed, candidate) <= allowed || isAbbreviation(typed, candidate);
  });
}

/**
 * Finds the known word that `word` is or misspells, for words whose meaning is far from where they were typed: a short word of
 * another program, such as `top`, is not taken for `stop`.
 */
export function similarWord(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  return known.find((candidate) => {
    const allowed = candidate.length < 5 ? 0 : candidate.length < 7 ? 1 : 2;
    return editDistance(typed, candidate) <= allowed;
  });
}

/** Whether the word begins the candidate, or has its first letter and at least half of its letters in their order. */
function isAbbreviation(typed: string, candidate: string): boolean {
  if (candidate.startsWith(typed)) return true;
  if (typed[0] !== candidate[0] || 2 * typed.length < candidate.length) return false;
  let at = 0;
  for (const letter of candidate) if (letter === typed[at]) at += 1;
  return at === typed.length;
}

function isSwap(one: string, other: string): boolean {
  return [...one].sort().join('') === [...other].sort().join('');
}

/** Number of insertions, deletions, substitutions and swaps of adjacent characters (optimal string alignment distance). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, beforeLast[column - 2]! + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
