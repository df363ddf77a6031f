import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { route } from '../base/route.ts';
import type { Addressed } from '../base/route.ts';
import { importWork } from '../base/work_units.ts';
import { importInto, takeBack } from './acts.ts';
import { findImport, IMPORT_PEOPLE_BYTES_MAX, PeopleImport } from './import_people.ts';
import type { SegmentRow } from './record_queries.ts';
import { SHOWN_ID } from './shown.ts';

const Imported = z
  .strictObject({
    import_id: z.uuid(),
    people: z.int().meta({ description: 'How many were found, and are on the list.' }),
    unknown: z.int().meta({ description: 'How many identifiers and addresses are nobody’s.' }),
    unread: z.int().meta({
      description: 'How many lines of a CSV name nobody, or not so that it can be read.',
    }),
    errors: z.array(z.strictObject({ line: z.int(), message: z.string() })).meta({
      description: `Which lines those are, the first ${ISSUES_MAX}, and why. The others are taken.`,
    }),
  })
  .meta({
    id: 'PeopleImported',
    examples: [{ import_id: SHOWN_ID, people: 1, unknown: 0, unread: 0, errors: [] }],
  });

const ImportParams = z.object({ id: z.uuid().meta({ description: "The import's id." }) });
const Undone = z
  .strictObject({ import_id: z.uuid(), undone: z.literal(true) })
  .meta({ id: 'PeopleImportUndone', examples: [{ import_id: SHOWN_ID, undone: true }] });

const findOwn = ({ deps, caller, params }: Addressed): Promise<string | null> => {
  const named = ImportParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  const { id } = named.data;
  return inProject(deps, caller.projectId, async (scope) => (await findImport(scope, id)) && id);
};

/** The endpoints that put people into static segments. */
export const importRoutes = (
  params: z.ZodObject,
  find: (addressed: Addressed) => Promise<SegmentRow | null>,
) => [
  route({
    method: 'POST',
    path: '/v1/segments/:id/imports',
    access: 'server',
    summary: 'Import people into a static segment.',
    description:
      'People whom you sent events or traits of, by your ids of them or their addresses. They are members within ' +
      'seconds, save those who are suppressed or unsubscribed: a list frees nobody. `people` are taken all or none: ' +
      'one that cannot be read is refused by its place. Of a `csv` the lines that can be read are taken, if there ' +
      'are any. What it added can be taken back as a whole, by its `import_id`.',
    params,
    body: PeopleImport,
    bodyBytesMax: IMPORT_PEOPLE_BYTES_MAX,
    workOf: (list) => [importWork('csv' in list ? list.csv : list.people)],
    status: 201,
    answer: Imported,
    refusals: ['segment_not_static'],
    find,
    handle: ({ deps, caller: { projectId }, found, body, repetitionId = newId() }) =>
      importInto({ deps, projectId }, found, { importId: repetitionId, people: body }),
  }),
  route({
    method: 'POST',
    path: '/v1/segment-imports/:id/undo',
    access: 'server',
    summary: 'Take an import of people back.',
    description: 'Whoever is on another list of the segment too stays.',
    params: ImportParams,
    status: 200,
    answer: Undone,
    find: findOwn,
    handle: ({ deps, caller: { projectId }, found }) => takeBack({ deps, projectId }, found),
  }),
];
