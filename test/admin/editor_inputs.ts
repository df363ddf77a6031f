import { SHOWN_ID } from '../http/as_shown.ts';
import type { Change, Given, Tried } from './audited_inputs.ts';

const automationId = SHOWN_ID;
const templateId = SHOWN_ID;
const segmentId = SHOWN_ID;
const AUTOMATION = '/v1/automations/{id}';
const TEMPLATES = '/v1/projects/{project_id}/templates';

const HELLO = { name: 'Hello', subject: 'Hello', html: '<p>Hello</p>' };

const ann = async ({ database, projectId }: Given): Promise<string> =>
  (
    await database.owner.query(
      `select profile_id from identity.identities where project_id = $1 and value = 'ann'`,
      [projectId],
    )
  ).rows[0].profile_id;

const change = (like: string, input: Change['input']): Change => ({ in: 'project', like, input });
const onAutomation = (verb: string): Change =>
  change(`POST ${AUTOMATION}/${verb}`, () => ({ automationId }));

/** A folder with one template. */
const FILES = {
  'templates/hello.json': JSON.stringify({ name: 'Hello', subject: 'Hello' }),
  'templates/hello.html': '<p>Hello</p>',
};

/** What is changed in the Console's editors. */
export const editorChanges: Record<string, Change> = {
  'readyMade.adopt': change('POST /v1/automations', () => ({
    key: 'win_back',
    providerId: SHOWN_ID,
  })),
  'folder.applyFiles': { in: 'project', input: () => ({ files: FILES }) },
  'automations.create': change('POST /v1/automations', ({ body }) => body),
  'automations.save': change(`POST ${AUTOMATION}/versions`, ({ body }) => ({
    automationId,
    ...body,
  })),
  'automations.activate': onAutomation('activate'),
  'automations.rename': change(`PATCH ${AUTOMATION}`, ({ body }) => ({ automationId, ...body })),
  'automations.pause': onAutomation('pause'),
  'automations.resume': onAutomation('resume'),
  'automations.archive': onAutomation('archive'),
  'automations.delete': change(`DELETE ${AUTOMATION}`, () => ({ automationId })),
  'automations.move': onAutomation('move'),
  'automations.retry': onAutomation('retry'),
  'automations.start': change(`POST ${AUTOMATION}/runs`, async (given) => ({
    automationId,
    profileId: await ann(given),
  })),
  'automations.test': change(`POST ${AUTOMATION}/test`, async (given) => ({
    automationId,
    profileId: await ann(given),
    to: 'me@example.com',
  })),
  'automations.startSegment': change(`POST ${AUTOMATION}/segment-starts`, () => ({
    automationId,
    segmentId,
  })),
  'automations.cancelSegmentStart': change('POST /v1/segment-starts/{id}/cancel', () => ({
    startId: SHOWN_ID,
  })),
  'endpoints.add': change('POST /v1/webhook-endpoints', ({ body }) => ({ endpoint: body })),
  'endpoints.edit': change('PATCH /v1/webhook-endpoints/{id}', ({ body }) => ({
    endpointId: SHOWN_ID,
    change: body,
  })),
  'endpoints.rotateSecret': change('POST /v1/webhook-endpoints/{id}/rotate-secret', () => ({
    endpointId: SHOWN_ID,
  })),
  'endpoints.test': change('POST /v1/webhook-endpoints/{id}/test', () => ({
    endpointId: SHOWN_ID,
  })),
  'endpoints.remove': change('DELETE /v1/webhook-endpoints/{id}', () => ({
    endpointId: SHOWN_ID,
  })),
  'templates.create': change(`POST ${TEMPLATES}`, ({ body }) => ({ template: body })),
  'templates.save': change(`POST ${TEMPLATES}/{id}/versions`, ({ body }) => ({
    templateId,
    version: body,
  })),
  'templates.archive': change(`POST ${TEMPLATES}/{id}/archive`, () => ({ templateId })),
  'templates.restore': change(`POST ${TEMPLATES}/{id}/archive`, async ({ call, projectId }) => {
    await call('templates.archive', { projectId, templateId });
    return { templateId };
  }),
  'templates.test': change(`POST ${TEMPLATES}`, () => ({
    draft: { template: HELLO },
    providerId: SHOWN_ID,
    to: 'me@example.com',
  })),
  'segments.create': change('POST /v1/segments', ({ body }) => body),
  'segments.change': change('PATCH /v1/segments/{id}', ({ body }) => ({ segmentId, change: body })),
  'segments.remove': change('DELETE /v1/segments/{id}', () => ({ segmentId })),
  'segments.import': change('POST /v1/segments/{id}/imports', ({ body }) => ({
    segmentId,
    people: body,
  })),
  'segments.undoImport': change('POST /v1/segment-imports/{id}/undo', () => ({
    importId: SHOWN_ID,
  })),
};

/** What the editors only ask. */
export const editorReadings: Record<string, Tried> = {
  'folder.compareFiles': { input: () => ({ files: FILES }) },
  'automations.check': { input: () => ({ definition: {} }) },
  'templates.preview': { input: () => ({ draft: { template: HELLO } }) },
  'segments.preview': { like: 'POST /v1/segment-previews', input: ({ body }) => body },
};
