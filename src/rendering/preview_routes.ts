import { inProject } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { route } from '../base/route.ts';
import { inAll, named, ONE } from './addressed.ts';
import { preview } from './preview.ts';
import type { PreviewDoors } from './preview.ts';
import { findVersion } from './queries.ts';
import { examineTemplate } from './rendering.ts';
import { DraftPreviewInput, PreviewInput, TEMPLATE_BODY_BYTES_MAX, toText } from './schema.ts';
import { Preview } from './shown.ts';

const answered = {
  method: 'POST',
  isReading: true,
  status: 200,
  answer: Preview,
  refusals: ['template_failed'],
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
    handle: async ({ deps, caller: { projectId }, found, body }) => {
      const wanted = body.version ?? found.latest_version;
      const version = await inProject(deps, projectId, (scope) =>
        findVersion(scope, found.template_id, wanted),
      );
      if (!version)
        throw new Refusal('invalid_request', {
          issues: [{ path: '/version', message: 'there is no such version' }],
        });
      const previewed = { source: version, sample: version.sample, whom: body };
      return preview(deps, projectId, previewed, doors);
    },
  }),
  route({
    ...inAll,
    ...answered,
    path: '/v1/projects/:project_id/template-previews',
    summary: 'Show a template that is not kept yet.',
    description: 'It is read and tried on its sample like one that is kept.',
    body: DraftPreviewInput,
    bodyBytesMax: TEMPLATE_BODY_BYTES_MAX,
    handle: async ({ deps, caller: { projectId }, body: { template, ...whom } }) => {
      const { written, html, sample } = await examineTemplate(
        deps,
        projectId,
        toText(template.name, template),
      );
      const { subject, text, preheader } = written;
      const source = { subject, html, text, preheader };
      return preview(deps, projectId, { source, sample, whom }, doors);
    },
  }),
];
