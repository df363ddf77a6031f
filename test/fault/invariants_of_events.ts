import type { AskedEvent } from './journal.ts';
import type { Evidence, Invariant } from './evidence.ts';
import { findRows } from './evidence.ts';

type Stored = Pick<AskedEvent, 'event' | 'external_id' | 'anonymous_id' | 'properties'> & {
  event_id: string;
  project_id: string;
  occurred_at: string;
};

const SYSTEM = `('email_sent', 'email_skipped')`;

/** Everything that clients sent, by its message id. */
const listStored = async ({ client }: Evidence): Promise<Map<string, Stored[]>> => {
  const { rows } = await client.query<Stored>(
    `select project_id, event_id, name as event, external_id, anonymous_id, properties,
      to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at
    from ingest.events where properties ? 'op' and name not in ${SYSTEM}`,
  );
  return Map.groupBy(rows, ({ properties }) => String(properties['op']));
};

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  one < other ? -1 : Number(one > other);

const toText = ({
  event,
  external_id,
  anonymous_id,
  properties,
  occurred_at,
}: Omit<Stored, 'event_id' | 'project_id'>) =>
  JSON.stringify([
    event,
    external_id,
    anonymous_id,
    Object.entries(properties).toSorted(byName),
    occurred_at,
  ]);

const judge = (asked: AskedEvent, stored: readonly Stored[], isErased: boolean): string | null => {
  const name = `event ${asked.op} of ${asked.external_id ?? asked.anonymous_id}`;
  if (stored.length > 1) return `${name} is stored ${stored.length} times`;
  const [one] = stored;
  if (!one)
    return asked.fate === 'stored' && !isErased
      ? `${name} was answered 202 and is not there`
      : null;
  if (one.project_id !== asked.projectId) return `${name} is in another project`;
  if (asked.event_id !== null && one.event_id !== asked.event_id)
    return `${name} was answered as ${asked.event_id} and is ${one.event_id}`;
  return null;
};

const acceptedOnce: Invariant = {
  id: 'I1',
  text: 'every event that was answered 202 is in the timeline exactly once',
  find: async (evidence) => {
    const stored = await listStored(evidence);
    return evidence.journal.events.flatMap((asked) => {
      const isErased = evidence.journal.isErased(asked.external_id, asked.anonymous_id);
      return judge(asked, stored.get(asked.op) ?? [], isErased) ?? [];
    });
  },
};

const refusedNever: Invariant = {
  id: 'I2',
  text: 'no stored event belongs to a request that was answered 4xx',
  find: async (evidence) => {
    const stored = await listStored(evidence);
    const asked = new Map(evidence.journal.events.map((one) => [one.op, one]));
    return [...stored.keys()].flatMap((op) => {
      const one = asked.get(op);
      if (!one) return [`event ${op} is stored, and nobody sent it`];
      return one.fate === 'refused' ? [`event ${op} was refused and is stored`] : [];
    });
  },
};

/** What was seen while the run went on, and is there otherwise now. */
const findAltered = async ({ client, samples }: Evidence): Promise<string[]> => {
  const { rows } = await client.query<{ id: string; digest: string }>(
    `select project_id || '/' || event_id as id, md5(event::text) as digest from ingest.events as event`,
  );
  const now = new Map(rows.map(({ id, digest }) => [id, digest]));
  return [...samples.events].flatMap(([id, digest]) =>
    now.has(id) && now.get(id) !== digest ? [`event ${id} is not as it was`] : [],
  );
};

const neverUpdated: Invariant = {
  id: 'I3',
  text: 'timeline rows are never updated except by erasure',
  find: async (evidence) => {
    const stored = await listStored(evidence);
    const otherwise = evidence.journal.events.flatMap((asked) => {
      const [one] = stored.get(asked.op) ?? [];
      const isAsSent = !one || toText(one) === toText(asked);
      return isAsSent
        ? []
        : [`event ${asked.op} was sent as ${toText(asked)} and is ${toText(one)}`];
    });
    return [...otherwise, ...(await findAltered(evidence))];
  },
};

const considered: Invariant = {
  id: 'I11',
  text: 'every accepted event has been considered by every automation that was active for it',
  find: (evidence) =>
    findRows(
      evidence,
      `select event.project_id, event.event_id, trigger.automation_id, count(run.run_id)::int as runs
      from ingest.events as event
      join automations.triggers as trigger
        on trigger.project_id = event.project_id and trigger.event_name = event.name
      left join automations.runs as run
        on run.project_id = event.project_id and run.automation_id = trigger.automation_id
        and run.trigger_event_id = event.event_id
      where event.properties ? 'op' and not exists (
        select from automations.refusals as refusal
        where refusal.project_id = event.project_id and refusal.automation_id = trigger.automation_id
        and refusal.event_id = event.event_id
      )
      group by event.project_id, event.event_id, trigger.automation_id
      having count(run.run_id) <> 1`,
    ),
};

export const invariantsOfEvents: readonly Invariant[] = [
  acceptedOnce,
  refusedNever,
  neverUpdated,
  considered,
];
