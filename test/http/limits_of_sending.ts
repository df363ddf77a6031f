// What a project decides about its email and its webhooks, at the bound and one past it.
import type { Answer, TestApi } from '../support/api.ts';

type Given = {
  postSetting: (path: string, body: object) => Promise<Answer>;
  post: (path: string, body: object) => Promise<Answer>;
  api: Pick<TestApi, 'project'>;
  bound: (sends: ((count: number) => Promise<Answer>)[]) => (value: number) => Promise<void>;
};

export const limitsOfSending = ({ post, postSetting, api, bound }: Given) => {
  const decide = (limits: object) =>
    post(`/v1/projects/${api.project.project_id}/sending-limits`, limits);
  const keep = (retention: object) =>
    post(`/v1/projects/${api.project.project_id}/retention`, retention);
  return {
    'Signing key of a webhook': bound([
      (count) => postSetting('/mailgun/signing-key', { signing_key: 'x'.repeat(count) }),
    ]),
    'Soft bounces in a row': bound([
      (count) => postSetting('/settings', { soft_bounces_max: count }),
    ]),
    'Emails of browser-triggered runs to one recipient in 24 hours': bound([
      (count) => decide({ recipient_sends_max: count, unconfirmed_sends_max: 200 }),
    ]),
    'Retention of rendered email and of answers of providers': bound([
      (count) => keep({ content_days: count, sends_months: null }),
    ]),
    'Retention of sends, attempts, feedback events and run logs': bound([
      (count) => keep({ content_days: 90, sends_months: count }),
    ]),
    'Retention of runs and starts of segments': bound([
      (count) => keep({ content_days: 90, sends_months: null, runs_months: count }),
    ]),
    'Retention of anonymous people without events': bound([
      (count) => keep({ content_days: 90, sends_months: null, anonymous_months: count }),
    ]),
    'Emails to unconfirmed addresses in an hour': bound([
      (count) => decide({ recipient_sends_max: 3, unconfirmed_sends_max: count }),
    ]),
  };
};
