import { phrases } from '../rules/phrases.ts';
import type { Pattern } from '../rules/pattern.ts';
import { foldLetters } from '../text/words.ts';

const LATIN_ACCENTED = /[\u00c0-\u024f\u1e00-\u1eff]/gu;

/** German writes `ae` for `ä` where it must. */
const UMLAUTS: Record<string, string> = { ä: 'ae?', ö: 'oe?', ü: 'ue?' };

/** A server may lose an accent, or the whole letter: `d?sactiv?`. */
const spellLetter = (letter: string): string =>
  `(${UMLAUTS[letter] ?? foldLetters(letter)}|[^a-z ])`;

/**
 * Returns one pattern for words as people write them over folded words, in the notation of
 * `phrases`. The pattern also fits where accents are missing or lost.
 */
export const spellings = (text: string): Pattern =>
  phrases(
    foldLetters(
      text
        .normalize('NFC')
        .toLowerCase()
        .replace(/(?<=[\u0080-\uffff])\*/gu, '[a-z]{0,14}')
        .replace(LATIN_ACCENTED, spellLetter),
    ),
  );
