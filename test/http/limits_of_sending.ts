// How much email strangers can cause, as a project decides it.
import type { Answer, TestApi } from '../support/api.ts';

type Given = {
  post: (path: string, body: object) => Promise<Answer>;
  api: Pick<TestApi, 'project'>;
  bound: (sends: ((count: number) => Promise<Answer>)[]) => (value: number) => Promise<void>;
};

export const limitsOfSending = ({ post, api, bound }: Given) => {
  const decide = (limits: object) =>
    post(`/v1/projects/${api.project.project_id}/sending-limits`, limits);
  return {
    'Emails of browser-triggered runs to one recipient in 24 hours': bound([
      (count) => decide({ recipient_sends_max: count, unconfirmed_sends_max: 200 }),
    ]),
    'Emails to unconfirmed addresses in an hour': bound([
      (count) => decide({ recipient_sends_max: 3, unconfirmed_sends_max: count }),
    ]),
  };
};
