// The past, simulated, and the same past, lived through with the automation switched on: the same decisions about
// everybody, at the same moments.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { Definition } from '../../src/automations/schema.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { create } from '../../src/automations/life.ts';
import { newId } from '../../src/base/ids.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { anyDefinition } from './any_definition.ts';
import { anyEnd, anyPast, DEVICES, familiesOf, onCalendar, PEOPLE, SPAN_MS } from './any_past.ts';
import { mail } from './journeys.ts';
import { addressOf, copyProject, DAY_MS, pastWorld } from './past_world.ts';
import { activation, doors } from './doors.ts';

const database = testDatabase();
const clock = virtualClock(database);
const SEED = 4_711;
const SCRIPTS = 8;
const MINUTE_MS = 60_000;

const PAID: Condition = {
  kind: 'event',
  event: 'paid',
  where: [],
  count: { is: 'at_least', value: 1 },
  within_days: 3,
};
const PRO: Condition = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };

type World = ReturnType<typeof pastWorld>;

/** Everybody, known for a month; segments, and another automation that mails them. */
const beginWorld = async (start: Date) => {
  const world = pastWorld(database, clock);
  await world.setClock(new Date(start.getTime() - DAY_MS));
  const at = new Date(start.getTime() - DAY_MS);
  for (const [place, who] of PEOPLE.entries()) {
    const ends_at = new Date(start.getTime() + (place + 8) * DAY_MS).toISOString().slice(0, 10);
    const born = `1990-0${place + 1}-28`;
    const traits = { email: addressOf(who), plan: place % 2 ? 'pro' : 'free', ends_at, born };
    // One of them has no address.
    const { email: _, ...without } = traits;
    await world.perform({ at, kind: 'trait', who, traits: place === 3 ? without : traits });
  }
  for (const who of DEVICES) {
    const given = { name: 'seen', properties: {}, occurredAt: at, eventId: newId() };
    await world.perform({ at, kind: 'event', who, ...given });
  }
  await world.follow();
  const pro = await world.segment('pro', PRO);
  const paid = await world.segment('paid', PAID);
  const inPro: Condition = { kind: 'segment', segment_id: pro };
  const both = await world.segment('both', { kind: 'all', of: [inPro, { kind: 'not', of: PAID }] });
  await world.activate('Beside', {
    trigger: { kind: 'event', event: 'seen' },
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: { mail: mail() },
  });
  const named = { segmentIds: [pro, paid, both], endpointId: await world.endpoint() };
  return { world, named };
};

/** What runs that were live decided, as a simulation tells it. */
const readLived = async ({ projectId }: World, automationId: string) => {
  const { rows } = await database.owner.query(
    `select run.run_id, known.profile_id, known.value as who, run.started_at,
       coalesce(run.outcome, 'inside') as outcome,
       log.step_id, log.decided_at, log.entry,
       case when log.decision = 'send_suppressed' and send.status_reason = 'unsubscribed' then 'send_unsubscribed'
         else log.decision end as decision
     from automations.runs as run
     join identity.identities as known on known.project_id = $1 and known.identity_id = run.identity_id
     left join automations.run_log as log on log.project_id = $1 and log.run_id = run.run_id
     left join delivery.sends as send on send.project_id = $1 and send.send_id = (log.detail ->> 'send_id')::uuid
     where run.project_id = $1 and run.automation_id = $2
     order by run.run_id, log.entry`,
    [projectId, automationId],
  );
  const runs = Map.groupBy(rows, ({ run_id }) => run_id as string);
  return [...runs.values()].map((logged) => ({
    who: logged[0].who as string,
    profile_id: logged[0].profile_id as string,
    entered_at: logged[0].started_at.toISOString() as string,
    outcome: logged[0].outcome as string,
    decisions: logged.flatMap(({ step_id, decision, decided_at }) =>
      decision === null ? [] : [{ at: decided_at.toISOString(), step_id, decision }],
    ),
  }));
};
type Lived = Awaited<ReturnType<typeof readLived>>[number];

/** What both tell of a run. */
const toRun = ({ profile_id, entered_at, outcome, decisions }: Omit<Lived, 'who'>) => ({
  profile_id,
  entered_at,
  outcome,
  decisions,
});

const sorted = <T extends { profile_id: string; entered_at: string }>(runs: T[]): T[] =>
  runs.toSorted((a, b) =>
    `${a.entered_at}${a.profile_id}` < `${b.entered_at}${b.profile_id}` ? -1 : 1,
  );

const seen: Record<string, number> = {};
const count = (name: string) => (seen[name] = (seen[name] ?? 0) + 1);

const compare = (
  simulated: Awaited<ReturnType<World['simulated']>>,
  lived: Lived[],
  familyOf: Map<string, string>,
) => {
  const nameOf = new Map(lived.map(({ profile_id, who }) => [profile_id, who]));
  const groupOf = (profileId: string) => familyOf.get(nameOf.get(profileId) ?? '') ?? profileId;
  const unsure = new Set(
    simulated.sample.flatMap(({ traits_of_today, profile_id }) =>
      traits_of_today.length > 0 ? [groupOf(profile_id)] : [],
    ),
  );
  const isSure = ({ profile_id }: { profile_id: string }) => !unsure.has(groupOf(profile_id));
  const told = simulated.sample.filter(isSure).map(toRun);
  const expected = lived.filter(isSure).map(toRun);
  expect(sorted(told)).toEqual(sorted(expected));
  if (unsure.size === 0) expect(simulated.entered).toBe(lived.length);
  for (const { outcome, decisions } of expected) {
    count(`= ${outcome}`);
    for (const { decision } of decisions) count(decision);
  }
  count(unsure.size === 0 ? 'scripts that are known' : 'scripts that are not wholly known');
};

const live = async (definition: NewDefinition, world: World, automationId: string) => {
  const made = { automationId, name: 'Drawn', definition: Definition.parse(definition) };
  await world.within((scope) => create(scope, made, doors));
};

test('a simulation of a month decides what was decided live, of everybody and at the same moments', async () => {
  const property = fc.asyncProperty(
    anyEnd,
    anyPast,
    fc.infiniteStream(fc.nat()),
    async (end, drawn, stream) => {
      const start = new Date(end.getTime() - SPAN_MS + 37 * MINUTE_MS);
      const { world: dry, named } = await beginWorld(start);
      const seed = stream.next().value ?? 0;
      const [definition] = fc.sample(anyDefinition(named), { seed, numRuns: 1 });
      if (!definition) throw new Error('nothing was drawn');
      const automationId = newId();
      await live(definition, dry, automationId);
      const wet = pastWorld(database, clock, await copyProject(database, dry.projectId));
      await wet.setClock(start);
      await wet.within((scope) => automations.activate(scope, automationId, 1, activation));
      const script = onCalendar(drawn, start);
      await dry.live(script, end);
      const simulated = await dry.simulated(automationId);
      await wet.setClock(start);
      await wet.live(script, end);
      const lived = await readLived(wet, automationId);
      compare(simulated, lived, familiesOf(script));
      await clock.set(end);
      compare(await wet.simulated(automationId), lived, familiesOf(script));
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS, endOnFailure: true });
  expect(seen['scripts that are known']).toBeGreaterThan(SCRIPTS / 2);
}, 600_000);
