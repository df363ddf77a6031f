import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';

const EXPORT_ENROLLMENTS_MAX = 500;

const Timestamp = z.iso.datetime();
const Exported = z.strictObject({
  automation_id: z.uuid(),
  digest: z.string(),
  first_started_at: Timestamp,
  started_at: Timestamp,
});

const EXAMPLE: z.input<typeof Exported> = {
  automation_id: '019a9f0c-6c01-7f1e-a9a0-5c1d6a1a2b01',
  digest: '',
  first_started_at: '2024-01-31T12:00:00.200Z',
  started_at: '2024-02-29T12:00:00.200Z',
};

const Row = z.strictObject({
  automation_id: z.uuid(),
  digest: z.string(),
  first_started_at: z.date(),
  started_at: z.date(),
});
type Row = z.output<typeof Row>;

const listOf = ({ tx, projectId }: Scope, identityId: string, last: Row | null) => {
  const later = last
    ? sql.fragment`and (automation_id, digest) > (${last.automation_id}::uuid, ${last.digest}::text)`
    : sql.fragment``;
  return tx.any(sql.type(Row)`
    select automation_id, digest, first_started_at, started_at from automations.enrollments
    where project_id = ${projectId} and identity_id = ${identityId} ${later}
    order by automation_id, digest
    limit ${EXPORT_ENROLLMENTS_MAX}
  `);
};

/** By which runs a person was enrolled that retention removed. */
export const enrollmentSection: ExportSection = {
  name: 'enrollments',
  item: Exported.meta({ examples: [EXAMPLE] }),
  about:
    'The first and the last run of each automation that retention removed, also for each value of a property that ' +
    'allows one run: its SHA-256 digest.',
  pages: async function* ({ identities }, read) {
    for (const { identity_id } of identities) {
      const pages = pagesOf<Row>(EXPORT_ENROLLMENTS_MAX, (last) =>
        read((scope) => listOf(scope, identity_id, last)),
      );
      for await (const rows of pages)
        yield rows.map((row) => ({
          ...row,
          first_started_at: row.first_started_at.toISOString(),
          started_at: row.started_at.toISOString(),
        }));
    }
  },
};
