import { z } from 'zod';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import { listLogs, listRunsOf, RUN_STATUSES } from './erase_queries.ts';
import type { Logged, Run } from './erase_queries.ts';

const EXPORT_RUNS_MAX = 200;

const Timestamp = z.iso.datetime();
const ExportedRun = z.strictObject({
  id: z.uuid(),
  automation_id: z.uuid(),
  version: z.int(),
  trigger_event_id: z.uuid().nullable(),
  trigger_event_at: Timestamp.nullable(),
  trigger_entry: z.int().nullable(),
  status: z.enum(RUN_STATUSES),
  outcome: z.string().nullable(),
  is_test: z.boolean(),
  step_id: z.string().nullable(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  log: z.array(
    z.strictObject({
      step_id: z.string(),
      decision: z.string(),
      detail: z.record(z.string(), z.unknown()),
      decided_at: Timestamp,
    }),
  ),
});

const EXAMPLE: z.input<typeof ExportedRun> = {
  id: '019a9f0c-6c02-7d4b-8c55-0b6f5a1a2b02',
  automation_id: '019a9f0c-6c01-7f1e-a9a0-5c1d6a1a2b01',
  version: 1,
  trigger_event_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
  trigger_event_at: '2026-01-31T12:00:00.000Z',
  trigger_entry: null,
  status: 'ended',
  outcome: 'completed',
  is_test: false,
  step_id: null,
  started_at: '2026-01-31T12:00:00.200Z',
  ended_at: '2026-01-31T12:00:00.300Z',
  log: [
    {
      step_id: 'welcome',
      decision: 'send_queued',
      detail: { send_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f' },
      decided_at: '2026-01-31T12:00:00.300Z',
    },
  ],
};

const toExported = (run: Run, log: readonly Logged[]): z.input<typeof ExportedRun> => ({
  id: run.run_id,
  automation_id: run.automation_id,
  version: run.version,
  trigger_event_id: run.trigger_event_id,
  trigger_event_at: run.trigger_event_at?.toISOString() ?? null,
  trigger_entry: run.trigger_entry,
  status: run.status,
  outcome: run.outcome,
  is_test: run.is_test,
  step_id: run.step_id,
  started_at: run.started_at.toISOString(),
  ended_at: run.ended_at?.toISOString() ?? null,
  log: log.map(({ step_id, decision, detail, decided_at }) => ({
    step_id,
    decision,
    detail,
    decided_at: decided_at.toISOString(),
  })),
});

/** A person's ways through automations, and what was decided on them. */
export const runSection: ExportSection = {
  name: 'runs',
  item: ExportedRun.meta({ examples: [EXAMPLE] }),
  about: 'Ways through automations, with every decision on them.',
  pages: async function* ({ identities }, read) {
    for (const { identity_id } of identities) {
      const pages = pagesOf<Run>(EXPORT_RUNS_MAX, (last) =>
        read((scope) =>
          listRunsOf(scope, identity_id, { after: last?.run_id ?? null, limit: EXPORT_RUNS_MAX }),
        ),
      );
      for await (const runs of pages) {
        const logs = await read((scope) =>
          listLogs(
            scope,
            runs.map(({ run_id }) => run_id),
          ),
        );
        const logOf = Map.groupBy(logs, ({ run_id }) => run_id);
        yield runs.map((run) => toExported(run, logOf.get(run.run_id) ?? []));
      }
    }
  },
};
