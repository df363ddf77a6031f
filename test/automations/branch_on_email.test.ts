// A branch on what became of an email of its run: what the provider reports of it, and nothing else.
import { expect, test } from 'vitest';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf, mail } from './journeys.ts';

const database = testDatabase();

/** An automation that sends an email, and a day later takes a way by what became of it. */
const asking = (became: 'opened' | 'clicked' | 'delivered' | 'bounced') => ({
  settings: { re_entry: 'every_time' as const },
  entry: 'address',
  steps: {
    address: copy({ email: 'email' }, 'first'),
    first: mail('day'),
    day: { kind: 'delay' as const, duration: 'P1D', next: 'ask' },
    ask: {
      kind: 'branch' as const,
      branches: [{ when: { kind: 'email' as const, step: 'first', became }, next: 'yes' }],
      otherwise: 'no',
    },
    yes: mail(),
    no: mail(),
  },
});

/** Which way a run takes whose email has some facts. */
const takenAfter = async (became: Parameters<typeof asking>[0], ...facts: string[]) => {
  const journeys = journeysOf(database);
  await journeys.activate(asking(became));
  await journeys.tell(
    newEvent({ name: 'user_signed_up', properties: JSON.stringify({ email: 'ann@example.com' }) }),
  );
  const [send] = await journeys.select('send_id', 'delivery.sends');
  for (const fact of facts)
    await database.owner.query(
      'select delivery.record_feedback(project_id => $1, send_id => $2, fact => $3, occurred_at => now())',
      [journeys.projectId, send.send_id, fact],
    );
  await journeys.pass('1 day');
  await journeys.settle();
  return (await journeys.decisions()).findLast(({ decision }) => decision === 'branched').detail;
};

test.each([
  ['opened', ['delivered', 'opened'], '1'],
  ['opened', ['clicked'], '1'],
  ['opened', ['delivered'], 'otherwise'],
  ['clicked', ['delivered', 'clicked'], '1'],
  ['clicked', ['opened'], 'otherwise'],
  ['delivered', ['delivered'], '1'],
  ['delivered', ['opened'], 'otherwise'],
  ['bounced', ['delivered', 'clicked'], 'otherwise'],
] as const)('asked whether it was %s, after %j the way is %s', async (became, facts, branch) => {
  expect(await takenAfter(became, ...facts)).toEqual({ branch });
});
