import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import type { Outputs } from '../api.ts';
import { useChange } from '../changes.ts';
import { Failed } from '../parts/failed.tsx';
import { NOT_WHOLE, wholeOf } from '../parts/form.ts';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import { isAtLeast, useRole } from '../people_queries.ts';
import { sendingLimits } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/sending-limits');

type Limits = Outputs['sendingLimits']['read'];
type Name = keyof Limits;

const FIELDS: readonly { name: Name; label: string; about: string }[] = [
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

const NAMES = FIELDS.map(({ name }) => name);

type Props = { projectId: string; limits: Limits };

const LimitsForm = ({ projectId, limits }: Props) => {
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const [wrong, setWrong] = useState<Name[]>([]);
  const change = useChange(projectId, ['sending_limits', 'sends'], (given: Limits) =>
    api.sendingLimits.change.mutate({ projectId, ...given }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const recipient = wholeOf(form, 'recipient_sends_max');
    const unconfirmed = wholeOf(form, 'unconfirmed_sends_max');
    setWrong(NAMES.filter((name) => wholeOf(form, name) === null));
    if (recipient === null || unconfirmed === null) return;
    change.mutate({ recipient_sends_max: recipient, unconfirmed_sends_max: unconfirmed });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {FIELDS.map(({ name, label, about }) => (
          <TextInput
            key={`${name}/${limits[name]}`}
            name={name}
            label={label}
            description={about}
            defaultValue={limits[name]}
            inputMode="numeric"
            readOnly={!isOwner}
            error={wrong.includes(name) ? NOT_WHOLE : issuesOf(change.error)[name]}
          />
        ))}
        <Refused error={change.error} fields={NAMES} />
        {isOwner ? (
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change limits
            </Button>
            {change.isSuccess && wrong.length === 0 && (
              <Text size="sm" role="status">
                Changed.
              </Text>
            )}
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            Ask an owner of the project to change these limits.
          </Text>
        )}
      </Stack>
    </form>
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
