// Runs of a person, Ann, and of devices that are linked to her and taken from her again.
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { listLogs } from '../../src/automations/erase_queries.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import type { AfterLink } from '../../src/profiles/link.ts';
import { newEvent } from '../ingest/some_events.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import type { TestDatabase } from '../support/database.ts';
import { journeysOf, mail } from './journeys.ts';

export const DELAY = { kind: 'delay' as const, duration: 'P1D', next: 'mail' };

/** A delay of a day, an email, a delay of a day, a second email. */
export const SERIES: Partial<NewDefinition> = {
  settings: { re_entry: 'once' },
  entry: 'wait',
  steps: {
    wait: DELAY,
    mail: mail('rest'),
    rest: { ...DELAY, next: 'last' },
    last: mail(),
  },
};

export type Shown = { who: string; status: string; outcome: string | null; step_id: string | null };

export const withMerges = (database: TestDatabase) => {
  const journeys = journeysOf(database);
  const { projectId, within } = journeys;
  const { owner } = database;
  const followLink: AfterLink = async (scope, moved) => {
    await automations.followLink(scope, moved);
  };
  const isDevice = (who: string) => who !== who.toLowerCase();
  const by = (who: string): Partial<EventRow> =>
    isDevice(who)
      ? { external_id: null, anonymous_id: who }
      : { external_id: who, anonymous_id: null };
  /** Makes a person known, with an address. */
  const know = async (who: string, email = `${who.toLowerCase()}@example.com`) => {
    await journeys.tell(newEvent({ ...by(who), name: 'seen' }));
    await within(async (scope) => {
      const [known] = await profiles.listIdentities(scope, [
        { kind: isDevice(who) ? 'anonymous' : 'external', value: who },
      ]);
      if (!known) throw new Error(`${who} is not known`);
      const traits = { email };
      const setAt = new Date();
      const identityId = known.identity_id;
      await profiles.changeTraits(scope, { identityId, traits, setAt, authority: 'server' });
    });
  };
  const enroll = (who: string, properties: object = {}, name = 'user_signed_up') =>
    journeys.tell(newEvent({ ...by(who), name, properties: JSON.stringify(properties) }));
  /** Links a device to a person, as a server does. Nothing is compared before `settle` or `merge`. */
  const link = (
    device: string,
    external_id = 'ann',
    key_type: 'server' | 'publishable' = 'server',
  ) =>
    within((scope) => {
      const wish = {
        anonymous_id: device,
        external_id,
        source: 'identify',
        key_type,
      } as const;
      return profiles.linkPeople(scope, wish, followLink);
    });
  const undo = async (device: string): Promise<void> => {
    const { rows } = await owner.query<{ link_id: string }>(
      `select link_id from identity.links where project_id = $1 and anonymous_id = $2 and status = 'active'`,
      [projectId, device],
    );
    for (const { link_id } of rows)
      await within((scope) => profiles.unlinkPeople(scope, link_id, 'console', followLink));
  };
  /** Where each run stands, the oldest first. */
  const runs = async (): Promise<Shown[]> =>
    (
      await owner.query<Shown>(
        `select known.value as who, run.status, run.outcome, run.step_id from automations.runs as run
        join identity.identities as known on known.project_id = $1 and known.identity_id = run.identity_id
        where run.project_id = $1 and not run.is_test order by run.run_id`,
        [projectId],
      )
    ).rows;
  /** The same in words. */
  const stands = async (): Promise<string[]> =>
    (await runs()).map(({ who, status, outcome, step_id }) =>
      status === 'ended' ? `${who} ${outcome}` : `${who} ${status} at ${step_id}`,
    );
  /** What was decided in the run of an identity: the last of its runs. */
  const logOf = (who: string) =>
    within(async (scope) => {
      const { rows } = await owner.query<{ run_id: string }>(
        `select run.run_id from automations.runs as run
        join identity.identities as known on known.project_id = $1 and known.identity_id = run.identity_id
        where run.project_id = $1 and known.value = $2 order by run.run_id desc limit 1`,
        [projectId, who],
      );
      return listLogs(
        scope,
        rows.map(({ run_id }) => run_id),
      );
    });
  const decided = async (who: string): Promise<string[]> =>
    (await logOf(who)).map(({ decision }) => decision);
  /** Every email: whose run sent which step, and how it stands. */
  const emails = async (): Promise<string[]> =>
    (
      await owner.query<{ said: string }>(
        `select known.value || ' ' || send.step_id || ' ' || send.status
          || coalesce('/' || send.status_reason, '') as said
        from delivery.sends as send
        join automations.runs as run on run.project_id = $1 and run.run_id = send.run_id
        join identity.identities as known on known.project_id = $1 and known.identity_id = run.identity_id
        where send.project_id = $1 order by send.send_id`,
        [projectId],
      )
    ).rows.map(({ said }) => said);
  /** As if the provider had taken what is queued, or was about to. */
  const setQueued = (status: 'accepted' | 'handing_off') =>
    owner.query(
      `update delivery.sends set status = $2, handed_off_at = now(), attempt_count = 1
      where project_id = $1 and status = 'queued'`,
      [projectId, status],
    );
  /** Moves the runs of one identity on, as if they had begun a day sooner. */
  const passFor = (who: string) =>
    owner.query(
      `update automations.runs set wake_at = wake_at - interval '1 day', waits_until = waits_until - interval '1 day'
      where project_id = $1 and identity_id in (
        select identity_id from identity.identities where project_id = $1 and value = $2)`,
      [projectId, who],
    );
  /** Lets a day go by and walks what is due, with all email taken at once. */
  const nextDay = async (): Promise<void> => {
    await journeys.pass('1 day');
    await owner.query(
      `update automations.run_merges set wake_at = wake_at - interval '1 day',
        waits_until = waits_until - interval '1 day' where project_id = $1`,
      [projectId],
    );
    await journeys.settle();
    await setQueued('accepted');
  };
  return {
    ...journeys,
    know,
    enroll,
    link,
    undo,
    runs,
    stands,
    logOf,
    decided,
    emails,
    setQueued,
    passFor,
    nextDay,
  };
};
