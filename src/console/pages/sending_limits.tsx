import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../api.ts';
import type { Outputs } from '../api.ts';
import { useChange } from '../changes.ts';
import { Failed } from '../parts/failed.tsx';
import { NOT_WHOLE, toWhole } from '../parts/form.ts';
import { NumberSettings } from '../parts/number_settings.tsx';
import type { NumberField } from '../parts/number_settings.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { sendingLimits } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/sending-limits');

type Limits = Outputs['sendingLimits']['read'];

const FIELDS: readonly NumberField<Limits>[] = [
  {
    name: 'recipient_sends_max',
    label: 'Emails to one recipient in 24 hours',
    about:
      'Counts email of runs that no server started, also to confirmed addresses. ' +
      'Anything above is skipped. From 1 to 100.',
  },
  {
    name: 'unconfirmed_sends_max',
    label: 'Emails to unconfirmed addresses in an hour',
    about:
      'Counts email to addresses that only browsers asserted. ' +
      'Anything above waits for the next hour. From 0 to 100,000.',
  },
];

const WORDS = {
  wrong: NOT_WHOLE,
  submit: 'Change limits',
  done: 'Changed.',
  ask: 'Ask an owner of the project to change these limits.',
};

const LimitsForm = ({ projectId, limits }: { projectId: string; limits: Limits }) => {
  const change = useChange(projectId, ['sending_limits', 'sends'], (given: Limits) =>
    api.sendingLimits.change.mutate({ projectId, ...given }),
  );
  return (
    <NumberSettings
      projectId={projectId}
      fields={FIELDS}
      settings={limits}
      change={change}
      read={(typed) => toWhole(typed) ?? undefined}
      words={WORDS}
    />
  );
};

export const SendingLimitsPage = () => {
  const { projectId } = route.useParams();
  const { data, isPending, error } = useQuery(sendingLimits(projectId));
  return (
    <Stack maw={700}>
      <PageTitle
        title="Sending limits"
        note="Anyone can read the publishable key in your pages. These limits bound the email that it can cause."
      />
      {isPending && <Loading />}
      {!isPending && !data && <Failed error={error} />}
      {data && <LimitsForm projectId={projectId} limits={data} />}
    </Stack>
  );
};
