import { findRows } from './evidence.ts';
import type { Evidence, Invariant } from './evidence.ts';
import { fold, listErased, saidByAddress } from './invariants_of_people.ts';
import type { AddressSaid, Made, Said } from './journal.ts';

/** What is written down of what was said by hand. */
const WRITTEN: Partial<Record<Said, string>> = {
  suppress: 'suppressed',
  lift: 'released',
  unsubscribe: 'unsubscribed',
  resubscribe: 'resubscribed',
};

const countSaid = (said: readonly AddressSaid[]): string =>
  said.map((one) => WRITTEN[one.said]).join();

type Heard = { key: string; changes: string };

const changesOfAddresses = async ({ client, journal }: Evidence): Promise<string[]> => {
  const { rows } = await client.query<Heard>(
    `select address.project_id || ' ' || address.email as key,
      string_agg(history.change, ',' order by history.changed_at, history.history_id) as changes
    from suppression.history as history
    join suppression.addresses as address using (project_id, address_key)
    where address.email is not null and history.source = 'api' group by key`,
  );
  const heard = new Map(rows.map(({ key, changes }) => [key, changes]));
  const erased = listErased(journal);
  const byHand = journal.said.filter(({ said }) => WRITTEN[said] !== undefined);
  return [...saidByAddress(byHand)].flatMap(([key, those]) =>
    erased.has(key) || fold(those) === null || heard.get(key) === countSaid(those)
      ? []
      : [`${key}: ${countSaid(those)} was answered, ${heard.get(key)} is written down`],
  );
};

const changesOfLinks = async ({ client, journal }: Evidence): Promise<string[]> => {
  const { rows } = await client.query<{ key: string; linked: number; undone: number }>(
    `select project_id || ' ' || anonymous_id as key, count(*)::int as linked,
      count(*) filter (where undone_by = 'server_key')::int as undone
    from identity.links where source = 'alias' and key_type = 'server' group by key`,
  );
  const written = new Map(rows.map((row) => [row.key, row]));
  return journal.people.flatMap(({ role, projectId, anonymous_id, isLinked, links }) => {
    if (role !== 'linked' || isLinked === null) return [];
    const row = written.get(`${projectId} ${anonymous_id}`);
    const isSo = (row?.linked ?? 0) === links.linked && (row?.undone ?? 0) === links.undone;
    const said = `linked ${links.linked}, undone ${links.undone}`;
    return isSo ? [] : [`${anonymous_id}: ${said} was answered, ${JSON.stringify(row)} is there`];
  });
};

const changesAreAudited = async ({ client, journal }: Evidence): Promise<string[]> => {
  const { rows } = await client.query<{ key: string; entries: number }>(
    `select project_id || ' ' || request_id as key, count(*)::int as entries
    from admin.audit where request_id is not null group by 1`,
  );
  const entriesOf = new Map(rows.map(({ key, entries }) => [key, entries]));
  return journal.changed.flatMap(({ projectId, kind, requestId, isDone }) => {
    const entries = entriesOf.get(`${projectId} ${requestId}`) ?? 0;
    const isSo = entries === 1 || (entries === 0 && !isDone);
    return isSo ? [] : [`${kind} ${requestId} has ${entries} entries in the audit log`];
  });
};

/** Where changes of what may send, and through whom, can be read: when a row was made or changed, by which calls. */
const MOMENTS = [
  ['projects.api_keys', 'key_id', 'created_at', '^(keys|webhookTokens)[.]issue$', ''],
  ['projects.api_keys', 'key_id', 'revoked_at', '^(keys|webhookTokens)[.]revoke$', 'key_id'],
  ['providers.providers', 'provider_id', 'created_at', '^POST .*/email-providers$', ''],
  ['providers.providers', 'provider_id', 'updated_at', '/email-providers(/:id)?$', ''],
  ['automations.automations', 'automation_id', 'created_at', '^POST /v1/automations$', ''],
  ['automations.automations', 'automation_id', 'updated_at', '/v1/automations', ''],
] as const;

/** A provider is parked by a worker, because of what it was answered: nobody's change. */
const isChange = (table: string): string =>
  table === 'providers.providers' ? `and row.status <> 'parked'` : '';

/** Rows that were changed at a moment at which no entry says so: both are of one transaction, and have its time. */
const changesOfRows = async (evidence: Evidence): Promise<string[]> => {
  const found: string[] = [];
  for (const [table, id, moment, action, target] of MOMENTS) {
    const isOfRow = target === '' ? 'true' : `audit.targets ->> '${target}' = row.${id}::text`;
    const silent = await findRows(
      evidence,
      `select row.project_id, row.${id}, row.${moment} from ${table} as row
      where row.${moment} >= $1 ${isChange(table)} and not exists (
        select from admin.audit as audit
        where audit.project_id = row.project_id and audit.at = row.${moment} and audit.action ~ $2 and ${isOfRow}
      )`,
      [evidence.journal.startedAt, action],
    );
    found.push(
      ...silent.map((row) => `no entry of the audit log says who changed ${table}: ${row}`),
    );
  }
  return found;
};

/** Entries of keys without what they tell of: keys are never deleted. */
const entriesOfKeys = async (evidence: Evidence): Promise<string[]> =>
  (
    await findRows(
      evidence,
      `select audit.project_id, audit.action, audit.at from admin.audit as audit
      where audit.action in ('keys.issue', 'keys.revoke') and not exists (
        select from projects.api_keys as key where key.project_id = audit.project_id
        and audit.at = case audit.action when 'keys.issue' then key.created_at else key.revoked_at end
      )`,
    )
  ).map((row) => `an entry of the audit log tells of no key: ${row}`);

/** How what was made stands by the tables. */
const STANDS: Record<Made['what'], string> = {
  key: `select key_id as id, case when revoked_at is null then 'live' else 'revoked' end as stands
    from projects.api_keys`,
  provider: 'select provider_id as id, display_name as stands from providers.providers',
  automation: `select automation_id as id, status as stands from automations.automations
    where status <> 'deleting'`,
};
const GONE = 'gone';

const madeStands = async ({ client, journal }: Evidence): Promise<string[]> => {
  const found: string[] = [];
  for (const [what, query] of Object.entries(STANDS)) {
    const { rows } = await client.query<{ id: string; stands: string }>(query);
    const is = new Map(rows.map(({ id, stands }) => [id, stands]));
    for (const made of journal.made) {
      const stands = is.get(made.id) ?? GONE;
      if (made.what === what && made.stands !== null && made.stands !== stands)
        found.push(`${what} ${made.id} is ${stands}; ${made.stands} was answered`);
    }
  }
  return found;
};

const changesAreWritten: Invariant = {
  id: 'I19',
  text: 'each change by a key or a person has one entry in the audit log, and stands as it was answered',
  find: async (evidence) => [
    ...(await changesOfAddresses(evidence)),
    ...(await changesOfLinks(evidence)),
    ...(await changesAreAudited(evidence)),
    ...(await changesOfRows(evidence)),
    ...(await entriesOfKeys(evidence)),
    ...(await madeStands(evidence)),
  ],
};

export const invariantsOfChanges: readonly Invariant[] = [changesAreWritten];
