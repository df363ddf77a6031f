import { z } from 'zod';
import { NameOfAutomation } from '../automations/automations.ts';
import { inProject } from '../base/db.ts';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { editorProcedure, projectProcedure, readingProcedure, router } from '../base/procedure.ts';
import { isStorable } from '../base/text.ts';
import { applySeen, compareFolder, refusing } from './folder/acts.ts';
import { OURS } from './folder/disk.ts';
import { exportFolder } from './folder/folder.ts';
import {
  FILE_NAME_CHARS_MAX,
  FOLDER_EXPORT,
  FOLDER_FILE_CHARS_MAX,
  FOLDER_FILES_MAX,
  SEEN_CHARS_MAX,
} from './folder_limits.ts';
import { folderTurnsOf } from './folder_turns.ts';

const Files = z
  .record(
    z.string().max(FILE_NAME_CHARS_MAX, `at most ${FILE_NAME_CHARS_MAX} characters`),
    z.string().max(FOLDER_FILE_CHARS_MAX, `at most ${FOLDER_FILE_CHARS_MAX} characters`),
  )
  .refine((files) => Object.keys(files).length > 0, 'must have a file')
  .refine(
    (files) => Object.keys(files).length <= FOLDER_FILES_MAX,
    `at most ${FOLDER_FILES_MAX} files`,
  )
  .refine(
    (files) => Object.keys(files).every((file) => OURS.test(file) && isStorable(file)),
    'are called templates/…, segments/… or automations/…, and end in .json, .html, .mjml or .txt',
  );

const Applied = z.object({
  files: Files,
  /** The from_email of who sends what says of nobody. */
  provider: z.string().min(1).max(EMAIL_CHARS_MAX).optional(),
  activates: z.boolean().default(false),
});
/** How things were when they were compared (`was`, by file): whatever is not so any more is refused. */
const Seen = z
  .record(z.string().max(FILE_NAME_CHARS_MAX), z.string().max(SEEN_CHARS_MAX).nullable())
  .refine((seen) => Object.keys(seen).length <= FOLDER_FILES_MAX, `at most ${FOLDER_FILES_MAX}`);

const toWanted = ({ files, provider, activates }: z.output<typeof Applied>) => ({
  folder: new Map(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  sender: provider,
  activates,
});

/** A project's templates, segments and automations as files, by their paths. */
export const folderProcedures = router({
  /** All of them, or one automation with what it needs; refused past FOLDER_EXPORT. */
  exportFiles: projectProcedure
    .input(z.object({ automation: NameOfAutomation.optional() }))
    .query(({ ctx: { deps }, input: { projectId, automation }, signal }) =>
      folderTurnsOf(deps).inTurn({ projectId, signal }, () =>
        refusing(() =>
          inProject(deps, projectId, async (scope) => ({
            files: Object.fromEntries(await exportFolder(scope, automation, FOLDER_EXPORT)),
          })),
        ),
      ),
    ),

  /** What files would change, each with how it is now. Keeps nothing. */
  compareFiles: readingProcedure
    .input(Applied)
    .mutation(async ({ ctx: { deps }, input: { projectId, ...input }, signal }) => ({
      items: await folderTurnsOf(deps).inTurn({ projectId, signal }, () =>
        compareFolder({ deps, projectId, signal }, toWanted(input)),
      ),
    })),

  /** Makes the project what the files say, all or nothing. What is in no file stays as it is. */
  applyFiles: editorProcedure
    .input(Applied.extend({ seen: Seen.optional() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, seen, ...input }, signal }) => ({
      items: await folderTurnsOf(deps).inTurn({ projectId, signal }, () =>
        applySeen({ deps, projectId, signal }, { ...toWanted(input), seen }),
      ),
    })),
});
