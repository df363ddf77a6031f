import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KeptAnswer, toColumn } from './account_answer.ts';

const Plan = z.strictObject({
  rate_per_second: z.number().nullable(),
  ramp_started_on: z.iso.date().nullable(),
  ramp_stages: z.array(z.int()).nullable(),
  revision: z.int(),
  /** Whether there is a pace to look at. */
  is_paced: z.boolean(),
});

export const findPlan = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Plan)`
    select provider.rate_per_second, provider.ramp_started_on::text, provider.ramp_stages,
      provider.revision, pace.project_id is not null as is_paced
    from providers.providers as provider
    left join providers.paces as pace
      on pace.project_id = provider.project_id and pace.provider_id = provider.provider_id
    where provider.project_id = ${projectId} and provider.provider_id = ${providerId}
  `);

export const updatePlan = (
  { tx, projectId }: Scope,
  providerId: string,
  plan: Omit<z.output<typeof Plan>, 'is_paced' | 'revision'>,
) =>
  tx.query(sql.unsafe`
    update providers.providers
    set rate_per_second = ${plan.rate_per_second}, ramp_started_on = ${plan.ramp_started_on}::date,
      ramp_stages = ${plan.ramp_stages === null ? null : sql.array(plan.ramp_stages, 'int4')}
    where project_id = ${projectId} and provider_id = ${providerId}
  `);

const Pace = z.strictObject({
  next_at: z.date().nullable(),
  learned_rate: z.number().nullable(),
  learned_at: z.date().nullable(),
  failure_count: z.int(),
  opened_until: z.date().nullable(),
  /** Why the circuit is open, where the provider said it of the account; null: it failed several times in a row. */
  held_reason: z.string().nullable(),
  /** What it answered then. */
  held_answer: KeptAnswer,
  /** The newest refusals in a row: the digest of their text, and how many recipients got it. */
  refused_digest: z.string().nullable(),
  refused_count: z.int(),
  /** Until then email that no page caused shows nothing that only a browser asserted. */
  bare_until: z.date().nullable(),
  /** The worker whose send finds out if the provider is well again. */
  probed_by: z.string().nullable(),
  ramp_day: z.iso.date().nullable(),
  ramp_count: z.int(),
  now: z.date(),
});
export type Pace = z.output<typeof Pace>;

const columns = sql.fragment`next_at, learned_rate, learned_at, failure_count, opened_until, held_reason,
  held_answer, refused_digest, refused_count, bare_until, probed_by, ramp_day::text, ramp_count,
  date_trunc('milliseconds', clock_timestamp()) as now`;

export const insertPace = ({ tx, projectId }: Scope, providerId: string) =>
  tx.query(sql.unsafe`
    insert into providers.paces (project_id, provider_id) values (${projectId}, ${providerId})
    on conflict do nothing
  `);

export const findPace = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Pace)`
    select ${columns} from providers.paces where project_id = ${projectId} and provider_id = ${providerId}
  `);

/** The pace for one claim alone, until its transaction ends; null while somebody else has it. */
export const takePace = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Pace)`
    select ${columns} from providers.paces
    where project_id = ${projectId} and provider_id = ${providerId}
    for update skip locked
  `);

/** The pace of a provider, for changes that wait for their turn. */
export const lockPace = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Pace)`
    select ${columns} from providers.paces
    where project_id = ${projectId} and provider_id = ${providerId}
    for update
  `);

export type PaceChange = Omit<Pace, 'now'> & { wakes_at: Date | null };

const moment = (at: Date | null) => (at === null ? sql.fragment`null` : sql.timestamp(at));

export const writePace = ({ tx, projectId }: Scope, providerId: string, change: PaceChange) =>
  tx.query(sql.unsafe`
    update providers.paces
    set next_at = ${moment(change.next_at)}, learned_rate = ${change.learned_rate},
      learned_at = ${moment(change.learned_at)}, failure_count = ${change.failure_count},
      opened_until = ${moment(change.opened_until)}, held_reason = ${change.held_reason},
      held_answer = ${toColumn(change.held_answer)},
      refused_digest = ${change.refused_digest}, refused_count = ${change.refused_count},
      bare_until = ${moment(change.bare_until)}, probed_by = ${change.probed_by},
      ramp_day = ${change.ramp_day}::date, ramp_count = ${change.ramp_count}, wakes_at = ${moment(change.wakes_at)}
    where project_id = ${projectId} and provider_id = ${providerId}
  `);
