// How the refusals of templates are provoked.
import { callAsShown, makeShownProject } from './as_shown.ts';
import { keyOf, pathOf } from './provoke_base.ts';
import type { Surroundings, Ways } from './provoke_base.ts';

/** Reads well, and makes what cannot be kept or sent. */
const FAILING = '{{ "%00" | url_decode }}';

export const waysOfTemplates = ({ database, api }: Surroundings): Ways => {
  const inProject = (text: string) => database.owner.query(text, [api.project.project_id]);
  return {
    template_changed: async (one) => {
      await makeShownProject(database, api, one);
      await callAsShown(one, api);
      const body = { after_version: 1, subject: 'late', html: 'late' };
      return api.call(one.method, pathOf(one, api), { key: keyOf(one, api.project), body });
    },
    template_archived: async (one) => {
      await makeShownProject(database, api, one);
      await inProject('update rendering.heads set archived_at = now() where project_id = $1');
      return callAsShown(one, api);
    },
    template_in_use: async (one) => {
      await makeShownProject(database, api, one);
      await inProject(
        `update automations.automations set status = 'active', active_version = 1 where project_id = $1`,
      );
      return callAsShown(one, api);
    },
    template_failed: async (one) => {
      await makeShownProject(database, api, one);
      await database.owner.query('update rendering.templates set html = $2 where project_id = $1', [
        api.project.project_id,
        FAILING,
      ]);
      const html = '{% if profile.first_name == "Ann" %}{{ "%00" | url_decode }}{% endif %}';
      const template = { name: 'Fails', subject: 'For Ann', html };
      const profile_id = 'external_id:ann';
      const body = one.path.endsWith('previews') ? { template, profile_id } : { profile_id };
      return api.call(one.method, pathOf(one, api), { key: keyOf(one, api.project), body });
    },
  };
};
