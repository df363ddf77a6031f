// What vendors post, with its meaning. `REPLIES_FOLDER` names another folder with a webhooks.json
// of the same shape.
import { describe, expect, test } from 'vitest';
import { SOURCES } from '../../../src/feedback/dialects/dialects.ts';
import { readRecipient } from '../../../src/feedback/dialects/reading.ts';
import { labelOf, messageIdsOf, readFact, readFacts, sourceOfFact } from './read_facts.ts';

const facts = readFacts();
const bare = (id: string): string => id.replace(/^<(.*)>$/, '$1');

test('there are facts of known vendors to judge', () => {
  expect(facts.length).toBeGreaterThan(0);
  for (const fact of facts) expect(SOURCES).toContain(sourceOfFact(fact));
});

describe.each(facts.map((fact) => [fact.id, fact] as const))('%s', (_id, fact) => {
  test(`means ${fact.meaning}`, async () => {
    const { notices, errors } = await readFact(fact);
    expect(errors).toEqual([]);
    expect(labelOf(notices[0])).toBe(fact.meaning);
  });

  test('names its recipient and its email', async () => {
    const [notice] = (await readFact(fact)).notices;
    expect(notice?.email ?? null).toBe(fact.recipient && readRecipient(fact.recipient));
    const ids = messageIdsOf(fact);
    const isNamed =
      notice?.messageIds.some((id) => ids.some((one) => bare(one) === bare(id))) ||
      ids.some((id) => notice?.sendId === id) ||
      ids.every((id) => /^[0-]+$/.test(id));
    expect(isNamed, ids.join()).toBe(true);
  });
});
