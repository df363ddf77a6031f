import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { newId } from '../../src/base/ids.ts';
import { setSigningKey } from '../../src/feedback/signing_keys.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { openCredential, saveProvider, sealCredential } from '../../src/providers/providers.ts';
import type { NewProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { createSegment, Definition } from '../../src/segments/segments.ts';
import { SIGNING_KEY } from './signed.ts';
import { PAGE } from './timelines.ts';

/** What starts the automation of every project here. */
export const SIGN_UP = 'user_signed_up';

const MAIL = {
  name: 'Welcome',
  subject: 'Welcome, {{ profile.first_name | default: "there" }}',
  html: '<p>Welcome, {{ profile.first_name | default: "there" }}. This was started by {{ event.event }}.</p>',
  text: null,
};

/** Whoever saw so many pages is in this segment of every project, whether they may be mailed or not. */
export const PAGES_MIN = 3;
export const READERS = 'Readers';

/** A project whose people get one mail for each sign-up, through this provider. */
export const makeProject = async (
  deps: Deps,
  name: string,
  provider: NewProvider,
): Promise<NewProject> => {
  const project = await createProject(deps, name);
  const providerId = await saveProvider(deps, project.project_id, provider);
  const vault = { seal: sealCredential, open: openCredential };
  await inProject(deps, project.project_id, async (scope) => {
    await setSigningKey(scope, vault, { source: 'mailgun', key: SIGNING_KEY });
    const where = { kind: 'event', event: PAGE, count: { is: 'at_least', value: PAGES_MIN } };
    const definition = Definition.parse({ where, include_suppressed: true });
    await createSegment(scope, { segmentId: newId(), name: READERS, definition });
    const templateId = await saveTemplate(scope, MAIL);
    await automations.createActive(scope, 'Welcome', {
      trigger: { kind: 'event', event: SIGN_UP, where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits_from_event: { email: 'email', first_name: 'first_name' },
          next: 'mail',
        },
        mail: {
          kind: 'send_email',
          provider_id: providerId,
          template_id: templateId,
          template_version: 1,
          next: null,
        },
      },
    });
  });
  return project;
};
