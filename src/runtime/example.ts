import * as automations from '../automations/automations.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { createProject, findCaller, findProjectByName, issueKey } from '../projects/projects.ts';
import type { NewProject } from '../projects/projects.ts';
import { saveProvider } from '../providers/providers.ts';
import type { NewProvider } from '../providers/providers.ts';
import * as rendering from '../rendering/rendering.ts';

export const EXAMPLE_PROJECT = 'Example';
export const EXAMPLE_AUTOMATION = 'Welcome';
/** The event that starts the example automation. */
export const EXAMPLE_EVENT = 'user_signed_up';

const WELCOME = {
  name: 'Welcome',
  subject: 'Welcome, {{ profile.first_name | default: "there" }}',
  html: `<!doctype html>
<html lang="en">
<body style="margin:0;background:#f4f4f5;font-family:system-ui,sans-serif;color:#18181b">
  <div style="max-width:560px;margin:0 auto;padding:40px 24px;background:#ffffff">
    <h1 style="font-size:24px">Welcome, {{ profile.first_name | default: "there" }}</h1>
    <p>Thank you for signing up. This mail was started by the event <code>{{ event.event }}</code>,
    rendered for {{ profile.email }}, and handed to a real SMTP server.</p>
  </div>
</body>
</html>`,
  text: null,
};

/** Whether the tokens that were written down still open the project. */
const areLive = async (deps: Deps, known: NewProject): Promise<boolean> => {
  for (const token of [known.publishable_key, known.server_key, known.hook_token]) {
    const caller = await findCaller(deps, token);
    if (caller?.projectId !== known.project_id) return false;
  }
  return true;
};

/** Keeps the tokens of the last start, or makes new ones: the database knows only their hashes. */
const keepProject = async (deps: Deps, known: NewProject | null): Promise<NewProject> => {
  const project = await findProjectByName(deps.db, EXAMPLE_PROJECT);
  if (!project) return createProject(deps, EXAMPLE_PROJECT);
  if (known?.project_id === project.project_id && (await areLive(deps, known))) return known;
  return {
    project_id: project.project_id,
    publishable_key: await issueKey(deps, project.project_id, 'publishable'),
    server_key: await issueKey(deps, project.project_id, 'server'),
    hook_token: await issueKey(deps, project.project_id, 'hook'),
  };
};

/** Makes the welcome automation: remember the address that the event brings, then send. */
const keepAutomation = async (deps: Deps, projectId: string, providerId: string): Promise<void> => {
  await inProject(deps, projectId, async (scope) => {
    if (await automations.findAutomationByName(scope, EXAMPLE_AUTOMATION)) return;
    const templateId = await rendering.saveTemplate(scope, WELCOME);
    await automations.createActive(scope, EXAMPLE_AUTOMATION, {
      trigger: { kind: 'event', event: EXAMPLE_EVENT, where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'remember_person',
      steps: {
        remember_person: {
          kind: 'update_profile',
          traits_from_event: { email: 'email', first_name: 'first_name' },
          next: 'welcome',
        },
        welcome: {
          kind: 'send_email',
          provider_id: providerId,
          template_id: templateId,
          template_version: 1,
          next: null,
        },
      },
    });
  });
};

/** A project that works at once: keys, a provider that is the local mail catcher, and a welcome automation. */
export const keepExample = async (
  deps: Deps,
  known: NewProject | null,
  provider: NewProvider,
): Promise<NewProject> => {
  const project = await keepProject(deps, known);
  const providerId = await saveProvider(deps, project.project_id, provider);
  await keepAutomation(deps, project.project_id, providerId);
  return project;
};
