import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import type { NewProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';

/** What starts the automation of every project here. */
export const SIGN_UP = 'user_signed_up';

const MAIL = {
  name: 'Welcome',
  subject: 'Welcome, {{ profile.first_name | default: "there" }}',
  html: '<p>Welcome, {{ profile.first_name | default: "there" }}. This was started by {{ event.event }}.</p>',
  text: null,
};

/** A project whose people get one mail for each sign-up, through this provider. */
export const makeProject = async (
  deps: Deps,
  name: string,
  provider: NewProvider,
): Promise<NewProject> => {
  const project = await createProject(deps, name);
  const providerId = await saveProvider(deps, project.project_id, provider);
  await inProject(deps, project.project_id, async (scope) => {
    const templateId = await saveTemplate(scope, MAIL);
    await automations.createActive(scope, 'Welcome', {
      trigger: { kind: 'event', event: SIGN_UP, filters: [] },
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
