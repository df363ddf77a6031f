// Walks side by side: all kinds of steps over many people, and what the database is asked for them.
import { describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject, openDb } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { journeysOf, mail } from './journeys.ts';

const database = testDatabase();
const SIGN_UP = { kind: 'event' as const, event: 'user_signed_up' };
const EVERY_TIME = { re_entry: 'every_time' as const };
const mark = (stage: string, next: string | null) => ({
  kind: 'update_profile' as const,
  traits: { stage },
  next,
});
const tell = (next: string | null) => ({
  kind: 'webhook' as const,
  endpoint_id: newId(),
  next,
});
const isAt = (stage: string, next: string, otherwise: string | null) => {
  const test = { is: 'equals' as const, value: stage };
  return {
    kind: 'branch' as const,
    branches: [{ when: { kind: 'trait' as const, trait: 'stage', test }, next }],
    otherwise,
  };
};

/** Every kind of step that reads or changes something. */
const ALL_KINDS: Record<string, Partial<NewDefinition>> = {
  marks: {
    entry: 'address',
    steps: {
      address: {
        kind: 'update_profile',
        traits_from_event: { email: 'email' },
        traits: { known: true },
        next: 'mark',
      },
      mark: mark('new', 'mail'),
      mail: mail('calls'),
      calls: tell(null),
    },
  },
  asks: {
    settings: {
      ...EVERY_TIME,
      frequency_cap: { sends: 1, per: 'P1D', of: 'project', over: 'skip' },
    },
    entry: 'stage',
    steps: {
      stage: isAt('new', 'event', 'mail'),
      event: {
        kind: 'branch',
        branches: [
          { when: { kind: 'event_since', event: 'order_completed', where: [] }, next: 'plan' },
          { when: { kind: 'email', step: 'mail', became: 'queued' }, next: null },
        ],
        otherwise: 'plan',
      },
      plan: {
        kind: 'branch',
        branches: [
          {
            when: {
              kind: 'trait',
              trait: 'stage',
              test: { is: 'equals' as const, value: 'new' },
            },
            next: 'mail',
          },
        ],
        otherwise: null,
      },
      mail: mail('awaits'),
      awaits: {
        kind: 'wait_for_event',
        event: 'order_completed',
        where: [],
        timeout: 'P1D',
        next: 'again',
        on_timeout: null,
      },
      again: mail(),
    },
  },
  leaves: {
    settings: { ...EVERY_TIME, goal: { event: 'order_completed', where: [] } },
    entry: 'stage',
    steps: {
      stage: isAt('old', 'out', 'old'),
      old: mark('old', 'now'),
      now: isAt('old', 'out', null),
      out: { kind: 'exit' },
    },
  },
};

/** People who sign up, the second of them from a page, and whose runs are due. */
const started = async (people: readonly string[]) => {
  const world = journeysOf(database);
  for (const [name, given] of Object.entries(ALL_KINDS))
    await world.activate({ trigger: SIGN_UP, settings: EVERY_TIME, ...given }, name);
  const events = people.map((external_id, at) => {
    const source = at % 3 === 1 ? ('browser' as const) : ('server' as const);
    const properties = JSON.stringify({ email: `${external_id}@example.com` });
    return newEvent({ external_id, properties, source });
  });
  const ordered = newEvent({ name: 'order_completed', external_id: people[0] ?? null });
  await world.start(await world.flush(...events, ordered));
  return world;
};
type World = Awaited<ReturnType<typeof started>>;

const decided = async ({ projectId }: World) =>
  (
    await database.owner.query<{ who: string; name: string; decisions: string[] }>(
      `select known.value as who, automation.name, run.outcome, run.step_id,
        array_agg(entry.step_id || ' ' || entry.decision order by entry.entry) as decisions
      from automations.runs as run
      join automations.automations as automation using (project_id, automation_id)
      join identity.identities as known using (project_id, identity_id)
      join automations.run_log as entry using (project_id, run_id)
      where run.project_id = $1 group by 1, 2, 3, 4 order by 1, 2`,
      [projectId],
    )
  ).rows;

/** Walks the runs that are due one after the other, each in a claim of its own, as often as they look again. */
const settleAlone = async ({ projectId, advance }: World): Promise<void> => {
  const due = async (): Promise<string[]> => {
    const { rows } = await database.owner.query<{ run_id: string }>(
      `select run_id from automations.runs where project_id = $1 and status = 'active' and wake_at <= now()
      order by wake_at, run_id`,
      [projectId],
    );
    return rows.map(({ run_id }) => run_id);
  };
  const wake = (runIds: readonly string[], at: string) =>
    database.owner.query(
      `update automations.runs set wake_at = ${at} where project_id = $1 and run_id = any ($2)`,
      [projectId, runIds],
    );
  for (let runIds = await due(); runIds.length > 0; runIds = await due()) {
    await wake(runIds, `now() + interval '1 hour'`);
    for (const runId of runIds) {
      await wake([runId], 'now()');
      await advance();
    }
  }
};

describe('runs of all kinds of steps', () => {
  const PEOPLE = ['ann', 'ben', 'cid', 'dan', 'eve'];

  test('decide side by side what they decide one after the other', async () => {
    const [together, alone] = [await started(PEOPLE), await started(PEOPLE)];
    expect((await together.advance()).isMore).toBe(true);
    await together.settle();
    await settleAlone(alone);
    const expected = await decided(alone);
    expect(await decided(together)).toEqual(expected);
    expect(new Set(expected.flatMap(({ decisions }) => decisions))).toEqual(
      new Set([
        'address profile_updated',
        'again frequency_cap_skipped',
        'awaits waits_for_event',
        'awaits event_came',
        'calls webhook_queued',
        'event branched',
        'mail frequency_cap_skipped',
        'mail send_queued',
        'mark profile_updated',
        'now branched',
        'old profile_updated',
        'out exited',
        'plan branched',
        'stage branched',
        'stage goal_reached',
      ]),
    );
    const sends = async ({ select }: World) =>
      (await select(`concat_ws(' ', recipient, step_id, priority) as sent`, 'delivery.sends'))
        .map(({ sent }) => String(sent))
        .toSorted();
    expect(await sends(together)).toEqual(await sends(alone));
    const traits = async ({ select }: World) =>
      (await select('traits::text', 'profiles.profiles'))
        .map(({ traits: text }) => String(text))
        .toSorted();
    expect(await traits(together)).toEqual(await traits(alone));
  });

  test('take as many statements for thirty people as for six', async () => {
    const countStatements = async (count: number): Promise<number> => {
      const people = Array.from({ length: count }, (_, at) => `person-${at}`);
      const { projectId } = await started(people);
      const { config, keys } = database.deps;
      let statements = 0;
      const counter = {
        name: 'counter',
        beforeQueryExecution: () => {
          statements += 1;
          return null;
        },
      };
      const db = await openDb(runtimeUrl(config.databaseUrl, keys), 1, [counter]);
      try {
        // In one piece, and however long it takes.
        const bounds = { msMax: Number.POSITIVE_INFINITY, pieceRuns: automations.CLAIM_RUNS_MAX };
        await inProject({ ...database.deps, db }, projectId, (scope) =>
          automations.advance(scope, bounds),
        );
      } finally {
        await db.end();
      }
      return statements;
    };
    expect(await countStatements(30)).toBe(await countStatements(6));
  });
});
