import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { ownerProcedure, router } from '../base/procedure.ts';
import { readUse, setQuotas } from './queries.ts';
import type { UseRow } from './queries.ts';
import { applyQuotas } from './quotas.ts';
import {
  NEW_PROFILES_MAX,
  NEW_PROFILES_PER_DAY,
  STORED_BYTES_MAX,
  STORED_BYTES_PER_DAY,
} from './schema.ts';

/** Null is no quota; 0 allows nothing. */
const quota = (max: number) => z.int().min(0).max(max).nullable();

const Changed = z.object({
  newProfilesPerDay: quota(NEW_PROFILES_MAX),
  storedBytesPerDay: quota(STORED_BYTES_MAX),
});

/** Each use is one row, so only so many keys are asked about. */
const KEYS_MAX = 200;
const NO_KEY = '00000000-0000-0000-0000-000000000000';

const toUse = ({ key_id, new_profiles, stored_bytes }: UseRow) => ({
  key_id,
  new_profiles,
  stored_bytes,
});

export const quotaProcedures = router({
  /** The quotas of the project's publishable keys, and what the named keys have used today (UTC). */
  read: ownerProcedure
    .input(z.object({ keyIds: z.array(z.uuid()).max(KEYS_MAX) }))
    .query(({ ctx, input: { projectId, keyIds } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        // The first row says what holds, also where there is no key.
        const [holds, ...rows] = await readUse(scope, [NO_KEY, ...keyIds]);
        return {
          new_profiles_per_day: holds?.new_profiles_per_day ?? null,
          stored_bytes_per_day: holds?.stored_bytes_per_day ?? null,
          defaults: {
            new_profiles_per_day: NEW_PROFILES_PER_DAY,
            stored_bytes_per_day: STORED_BYTES_PER_DAY,
          },
          seconds_left: Math.ceil(holds?.seconds_left ?? 0),
          items: rows.map(toUse),
        };
      }),
    ),

  /** Changes both quotas: null is no quota, 0 allows nothing. They apply within seconds in every process. */
  change: ownerProcedure
    .input(Changed)
    .mutation(async ({ ctx, input: { projectId, newProfilesPerDay, storedBytesPerDay } }) => {
      await inProject(ctx.deps, projectId, (scope) =>
        setQuotas(scope, { newProfiles: newProfilesPerDay, storedBytes: storedBytesPerDay }),
      );
      await applyQuotas(ctx.deps, projectId);
      return {
        new_profiles_per_day: newProfilesPerDay,
        stored_bytes_per_day: storedBytesPerDay,
      };
    }),
});
