// Every labelled reply: those of the facts, and those that were collected to see how far the rules carry.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classifyRepeatedReply } from '../../../src/providers/answers/answers.ts';
import { describeMisses, judgeFolder, judgeReply, readReplies, shareRight } from './labelled.ts';

/** Of 4,700 replies. Two of them are in sets that the rules were not repaired for. */
const HARMFUL_BY_RULES_MAX = 10;

const facts = judgeFolder(join(import.meta.dirname, 'facts'));
const collected = judgeFolder(join(import.meta.dirname, 'collected'));

/**
 * What the words alone cannot tell. A relay that denies relaying to a recipient and one that denies it
 * to an account say the same, and only the latter is safe to assume. Amazon SES says which identity is
 * not verified; whose it is shows where the send's addresses are known (see classify_smtp.test.ts).
 */
const UNDECIDABLE = ['amazon-ses-smtp-554-2', 'yahoo-aol-550-1', 'amazon-ses-bounce-554-1'];

test('the facts are classified right, but those that need more than the words', () => {
  const misses = facts.replies.filter(({ isRight }) => !isRight).map(({ id }) => id);
  expect(misses).toEqual(UNDECIDABLE);
  expect(describeMisses(facts.answers)).toEqual([]);
});

describe('the collected replies', () => {
  test('are classified right to at least 95 %', () => {
    const misses = describeMisses(collected.replies).join('\n');
    expect(collected.replies.length).toBeGreaterThan(3_400);
    expect(shareRight(collected.replies), misses).toBeGreaterThanOrEqual(0.95);
  });

  test('and the answers of APIs too', () => {
    const misses = describeMisses(collected.answers).join('\n');
    expect(collected.answers.length).toBeGreaterThan(350);
    expect(shareRight(collected.answers), misses).toBeGreaterThanOrEqual(0.98);
  });
});

test.each([
  ['the facts', [...facts.replies, ...facts.answers]],
  ['the collected ones', [...collected.replies, ...collected.answers]],
])('none of %s about the side that sends would end a send, or suppress a person', (_, judged) => {
  const harmful = judged.filter(({ wouldEnd, wouldSuppress }) => wouldEnd || wouldSuppress);
  expect(describeMisses(harmful)).toEqual([]);
});

// What a bounce repeats of a reply is read by the rules alone.
test('the rules alone are right about at least 93 % of the replies, and end or suppress next to none wrongly', () => {
  const folders = ['facts', 'collected'].map((folder) => join(import.meta.dirname, folder));
  const judged = folders
    .flatMap((folder) => readReplies(folder))
    .map((reply) => judgeReply(reply, classifyRepeatedReply));
  expect(shareRight(judged)).toBeGreaterThanOrEqual(0.93);
  const harmful = judged.filter(({ wouldEnd, wouldSuppress }) => wouldEnd || wouldSuppress);
  expect(harmful.length, describeMisses(harmful).join('\n')).toBeLessThanOrEqual(
    HARMFUL_BY_RULES_MAX,
  );
});
