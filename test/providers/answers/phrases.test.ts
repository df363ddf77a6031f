// The notation in which the rules are written.
import { describe, expect, test } from 'vitest';
import { phrases } from '../../../src/providers/answers/rules/phrases.ts';

const fits = (notation: string, text: string): boolean => phrases(notation).test(text);

describe('a phrase', () => {
  test.each([
    ['lines and | separate alternatives', 'user unknown|no mailbox\nnobody here', 'no mailbox'],
    ['| inside parentheses belongs to the group', 'user (unknown|gone)', 'the user gone'],
    ['a group may go on in the next line', 'user (unknown|\n  gone)', 'user gone'],
    ['an asterisk stands for any ending', 'limit* reached', 'limits reached'],
    ['a space also for a hyphen', 'over quota', 'over-quota'],
    ['_ for up to two words', 'user _ unknown', 'user is not unknown'],
    ['_ also for none', 'user _ unknown', 'user unknown'],
    ['... for some words of the sentence', 'user ... unknown', 'user bob at this site is unknown'],
    ['~ for both orders', 'user ~ unknown', 'unknown to us is this user'],
    ["n't for the end of any word", "(not|n't) accepted", "mail isn't accepted"],
    ["n't also behind a word of its own", "has(n't| not) paid", "he hasn't paid"],
    ['{name} for the words of the vocabulary', '{mailbox} unknown', 'recipient unknown'],
  ])('%s', (_, notation, text) => {
    expect(fits(notation, text)).toBe(true);
  });

  test.each([
    ['is of whole words', 'user', 'superuser'],
    ['does not go on behind a period', 'user ... unknown', 'user ok. sender unknown'],
    ['has no more than two words in a gap', 'user _ unknown', 'user is not at all unknown'],
    ['never matches a mask', 'to', 'message for @to'],
  ])('%s', (_, notation, text) => {
    expect(fits(notation, text)).toBe(false);
  });

  test('that is not whole, or names no vocabulary, is refused at its first use', () => {
    expect(() => phrases('user ...\nunknown').test('')).toThrow('two sides');
    expect(() => phrases('{nothing} unknown').test('')).toThrow('no vocabulary nothing');
  });
});
