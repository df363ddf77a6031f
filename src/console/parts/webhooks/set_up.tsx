import { Badge, Group, List, Stack, Text } from '@mantine/core';
import type { Webhook } from '../../api.ts';
import { Copyable } from '../copy.tsx';
import { ForRole } from '../for_role.tsx';
import { WebhookTopics } from '../webhook_topics.tsx';
import { SigningKey } from './signing_key.tsx';

type Props = { projectId: string; webhook: Webhook };

const PLACEHOLDER = '<webhook token>';

const PROOFS: Record<Webhook['verified_by'], string> = {
  token: 'Verified by the webhook token above.',
  signing_key: 'Verified by the signature of your account.',
  topic: 'Verified by Amazon’s signature, and by the topic that you confirmed.',
};

/** The URL to enter at the vendor, with room for the token where the vendor sends no header. */
const Url = ({ webhook: { name, path, set_up } }: { webhook: Webhook }) => {
  const url = `${location.origin}${path}${set_up.is_token_in_url ? '?token=' : ''}`;
  const what = set_up.is_token_in_url
    ? `the URL for ${name}, to which you add the token`
    : `the URL for ${name}`;
  return (
    <Copyable value={url} what={what}>
      {url}
      {set_up.is_token_in_url ? PLACEHOLDER : ''}
    </Copyable>
  );
};

const Events = ({ webhook: { set_up } }: { webhook: Webhook }) => (
  <Stack gap={4}>
    <Text size="sm">Select these events:</Text>
    <Group gap={6}>
      {set_up.subscribe_to.map((event) => (
        <Badge key={event} variant="default" tt="none" miw="max-content">
          {event}
        </Badge>
      ))}
    </Group>
  </Stack>
);

/**
 * What to do at the vendor so that it reports to this project: the URL, the steps, the events, and
 * the key.
 */
export const SetUp = ({ projectId, webhook }: Props) => {
  const { signing_key: key, verified_by, set_up } = webhook;
  return (
    <Stack gap="sm">
      {verified_by !== 'topic' && <Url webhook={webhook} />}
      <List type="ordered" size="sm">
        {set_up.steps.map((step) => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
      <Events webhook={webhook} />
      <Text size="sm" c="dimmed">
        {PROOFS[verified_by]}
      </Text>
      {key !== null && (
        <ForRole projectId={projectId} role="owner" to="to set the signing key">
          <SigningKey
            projectId={projectId}
            webhook={webhook}
            name={key.name}
            isRequired={key.is_required}
          />
        </ForRole>
      )}
      {verified_by === 'topic' && <WebhookTopics webhook={webhook} projectId={projectId} />}
    </Stack>
  );
};
