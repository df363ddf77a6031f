import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import type { Webhook } from '../api.ts';
import { useChange } from '../changes.ts';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { NOT_WHOLE, wholeOf } from '../parts/form.ts';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Refused } from '../parts/refused.tsx';
import { WebhookTokens } from '../parts/webhook_token.tsx';
import { WebhookCard } from '../parts/webhooks/webhook_card.tsx';
import { webhooks } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/webhooks');

const SOFT_ROW =
  'A delivery starts the count again, and so does an accepted email that did not bounce. ' +
  'A change applies to an address from its next event on.';

const SoftBounces = ({ projectId, max }: { projectId: string; max: number }) => {
  const [isWrong, setIsWrong] = useState(false);
  const decide = useChange(projectId, ['webhooks'], (soft_bounces_max: number) =>
    api.webhooks.decide.mutate({ projectId, soft_bounces_max }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const max = wholeOf(event.currentTarget, 'soft_bounces_max');
    setIsWrong(max === null);
    if (max !== null) decide.mutate(max);
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="Soft bounces">
      <form onSubmit={submit} noValidate>
        <Stack gap="xs">
          <Title order={2} size="h4">
            Soft bounces
          </Title>
          <Group align="flex-end" gap="sm">
            <TextInput
              key={max}
              name="soft_bounces_max"
              label="Suppress an address after so many in a row"
              description={SOFT_ROW}
              defaultValue={max}
              inputMode="numeric"
              error={isWrong ? NOT_WHOLE : issuesOf(decide.error)['soft_bounces_max']}
              flex={1}
              miw={200}
            />
            <Button type="submit" variant="default" loading={decide.isPending}>
              Save
            </Button>
          </Group>
          <Refused error={decide.error} fields={['soft_bounces_max']} />
          {decide.isSuccess && (
            <Text size="sm" role="status">
              Saved: after {decide.data.soft_bounces_max} in a row.
            </Text>
          )}
        </Stack>
      </form>
    </Paper>
  );
};

/** Returns the vendors in their order, and the webhook for any other relay last. */
const vendorsFirst = (items: readonly Webhook[]): Webhook[] => [
  ...items.filter(({ slug }) => slug !== 'smtp'),
  ...items.filter(({ slug }) => slug === 'smtp'),
];

export const WebhooksPage = () => {
  const { projectId } = route.useParams();
  const { data, isPending, error } = useQuery(webhooks(projectId));
  return (
    <Stack maw={900}>
      <PageTitle
        title="Webhooks"
        note="Where your provider reports bounces, complaints and deliveries. Set up the one that you use."
      />
      <WebhookTokens projectId={projectId} />
      {isPending && <Loading />}
      {error !== null && !data && <Failed error={error} />}
      {data && (
        <ForRole
          projectId={projectId}
          role="editor"
          to={`to change it: after ${data.soft_bounces_max} soft bounces in a row an address is suppressed`}
        >
          <SoftBounces projectId={projectId} max={data.soft_bounces_max} />
        </ForRole>
      )}
      {data &&
        vendorsFirst(data.items).map((webhook) => (
          <WebhookCard key={webhook.slug} webhook={webhook} projectId={projectId} />
        ))}
    </Stack>
  );
};
