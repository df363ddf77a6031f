import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Counts = z.strictObject({
  provider_id: z.uuid(),
  sent: z.int(),
  bounced: z.int(),
  complained: z.int(),
  /** Null where the provider is gone. */
  display_name: z.string().nullable(),
  from_email: z.string().nullable(),
});
export type ProviderCounts = z.output<typeof Counts>;

/** Sums the counts of each provider over some hours: the one that is running, and those before it. */
export const listCounts = ({ tx, projectId }: Scope, hours: number) =>
  tx.any(sql.type(Counts)`
    select counted.provider_id, counted.sent, counted.bounced, counted.complained, provider.display_name,
      provider.from_email
    from (
      select provider_id, sum(sent)::integer as sent, sum(bounced)::integer as bounced,
        sum(complained)::integer as complained
      from delivery.hourly_counts
      where project_id = ${projectId}
      and hour > date_trunc('hour', now(), 'UTC') - make_interval(hours => ${hours})
      group by provider_id
    ) as counted
    left join providers.providers as provider
      on provider.project_id = ${projectId} and provider.provider_id = counted.provider_id
    order by counted.provider_id
  `);

/** Deletes the counts of long ago. */
export const deleteCounts = ({ tx, projectId }: Scope, hours: number) =>
  tx.query(sql.unsafe`
    delete from delivery.hourly_counts
    where project_id = ${projectId} and hour < now() - make_interval(hours => ${hours})
  `);

const ids = (sendIds: readonly string[]) => sql.array([...sendIds], 'uuid');

/** New facts of sends, each named once for each of them. */
export type Reports = { sent?: string[]; bounced?: string[]; complained?: string[] };

/** Adds bounces and complaints to the counts of the providers that sent the emails. */
export const countReports = async (
  { tx, projectId }: Scope,
  { sent = [], bounced = [], complained = [] }: Reports,
): Promise<void> => {
  if (sent.length + bounced.length + complained.length === 0) return;
  await tx.query(sql.unsafe`
    select from delivery.count_reports(
      project_id => ${projectId}, sent => ${ids(sent)}, bounced => ${ids(bounced)}, complained => ${ids(complained)}
    )
  `);
};
