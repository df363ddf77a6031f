import { route } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import { previewDraft, previewVersion } from './acts.ts';
import { inAll, named, ONE } from './addressed.ts';
import type { PreviewDoors } from './preview.ts';
import { DraftPreviewInput, PreviewInput, TEMPLATE_BODY_BYTES_MAX } from './schema.ts';
import { Preview } from './shown.ts';

const answered = {
  method: 'POST',
  isReading: true,
  status: 200,
  answer: Preview,
  refusals: ['template_failed'],
  workOf: () => [{ units: UNITS.render }],
} as const;

/** Templates shown to people, as somebody would get them. */
export const previewRoutes = (doors: PreviewDoors) => [
  route({
    ...named,
    ...answered,
    path: `${ONE}/preview`,
    summary: 'Show a version of a template as somebody would get it.',
    description:
      'For a profile, for an event, or for the sample of the version. What the person lacks is left out and warned ' +
      'of: their mail would fail. Nothing is kept, and nobody is mailed.',
    body: PreviewInput,
    bodyBytesMax: TEMPLATE_BODY_BYTES_MAX,
    handle: ({ deps, caller: { projectId }, found, body }) =>
      previewVersion({ deps, projectId }, found, body, doors),
  }),
  route({
    ...inAll,
    ...answered,
    path: '/v1/projects/:project_id/template-previews',
    summary: 'Show a template that is not kept yet.',
    description: 'It is read and tried on its sample like one that is kept.',
    body: DraftPreviewInput,
    bodyBytesMax: TEMPLATE_BODY_BYTES_MAX,
    handle: ({ deps, caller: { projectId }, body }) =>
      previewDraft({ deps, projectId }, body, doors),
  }),
];
