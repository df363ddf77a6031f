import {
  Alert,
  Button,
  Code,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import type { Webhook } from '../api.ts';
import { useChange } from '../changes.ts';
import { Copy } from '../parts/copy.tsx';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { fieldOf, NOT_WHOLE, wholeOf } from '../parts/form.ts';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Refused } from '../parts/refused.tsx';
import { RefusedPosts } from '../parts/refused_posts.tsx';
import { inWords } from '../parts/statuses.ts';
import { WebhookTokens } from '../parts/webhook_token.tsx';
import { WebhookTopics } from '../parts/webhook_topics.tsx';
import { When } from '../parts/when.tsx';
import { webhooks } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/webhooks');

const names: Record<string, string> = {
  smtp: 'Any other relay (generic)',
  smtp2go: 'SMTP2GO',
  mailgun: 'Mailgun',
  'amazon-ses': 'Amazon SES, through an SNS topic',
};

type Props = { projectId: string; webhook: Webhook };

const SigningKey = ({ projectId, webhook: { signing_key_set_at } }: Props) => {
  const set = useChange(projectId, ['webhooks'], (signing_key: string) =>
    api.webhooks.setSigningKey.mutate({ projectId, signing_key }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    set.mutate(fieldOf(form, 'signing_key').trim(), { onSuccess: () => form.reset() });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        {signing_key_set_at === null ? (
          <Alert color="orange">No signing key is set: every post is refused.</Alert>
        ) : (
          <Group gap={6}>
            <Text size="sm">A signing key is set, since</Text>
            <When at={signing_key_set_at} />
          </Group>
        )}
        <Group align="flex-end" gap="sm">
          <PasswordInput
            name="signing_key"
            label="HTTP webhook signing key"
            autoComplete="off"
            error={issuesOf(set.error)['signing_key']}
            flex={1}
            miw={200}
          />
          <Button type="submit" variant="default" loading={set.isPending}>
            Set
          </Button>
        </Group>
        <Refused error={set.error} fields={['signing_key']} />
      </Stack>
    </form>
  );
};

const proofs: Record<Webhook['verified_by'], string> = {
  token: 'Verified by the token above.',
  signing_key: 'Verified by the signature of your account.',
  topic: 'Verified by Amazon’s signature, and by the topic that you confirmed.',
};

const LastNotice = ({ webhook: { last_notices } }: Pick<Props, 'webhook'>) => {
  const [last] = last_notices;
  if (!last) {
    return (
      <Text size="sm" c="dimmed">
        Nothing has arrived yet.
      </Text>
    );
  }
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        Last told: {inWords(last.kind)} ({last.outcome}),
      </Text>
      <When at={last.received_at} />
    </Group>
  );
};

const Card = ({ webhook, projectId }: Props) => {
  const url = `${location.origin}${webhook.path}`;
  const name = names[webhook.slug] ?? webhook.slug;
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {name}
        </Title>
        {webhook.verified_by !== 'topic' && (
          <Group wrap="nowrap" gap="xs" align="flex-start">
            <Code block className="snippet" flex={1}>
              {url}
            </Code>
            <Copy value={url} what={`the address for ${name}`} />
          </Group>
        )}
        <Text size="sm" c="dimmed">
          {proofs[webhook.verified_by]}
        </Text>
        {webhook.verified_by === 'signing_key' && (
          <ForRole projectId={projectId} role="owner" to="to set the signing key">
            <SigningKey webhook={webhook} projectId={projectId} />
          </ForRole>
        )}
        {webhook.verified_by === 'topic' && (
          <WebhookTopics webhook={webhook} projectId={projectId} />
        )}
        <RefusedPosts webhook={webhook} />
        <LastNotice webhook={webhook} />
      </Stack>
    </Paper>
  );
};

const SOFT_ROW =
  'A delivery begins a new row, and so does a mail that was taken and did not bounce. ' +
  "Counts from an address's next notice on.";

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

export const WebhooksPage = () => {
  const { projectId } = route.useParams();
  const { data, isPending, error } = useQuery(webhooks(projectId));
  return (
    <Stack maw={900}>
      <PageTitle
        title="Webhooks"
        note="Where your provider reports bounces, complaints and deliveries."
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
      {data?.items.map((webhook) => (
        <Card key={webhook.slug} webhook={webhook} projectId={projectId} />
      ))}
    </Stack>
  );
};
