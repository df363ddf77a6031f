import { callAsShown, makeShownProject } from './as_shown.ts';
import type { Provoke, Surroundings, Ways } from './provoke_base.ts';

/** Refusals of requests about a send that is in another state. */
export const waysOfSends = ({ database, api }: Surroundings): Ways => {
  const having =
    (status: string): Provoke =>
    async (one) => {
      await makeShownProject(database, api, one);
      await database.owner.query('update delivery.sends set status = $2 where project_id = $1', [
        api.project.project_id,
        status,
      ]);
      return callAsShown(one, api);
    };
  return {
    send_not_unknown: having('rejected'),
    send_not_queued: having('rejected'),
    send_not_rejected: having('accepted'),
  };
};
